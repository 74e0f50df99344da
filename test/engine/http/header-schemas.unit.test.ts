import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cursorForm, requestHeaders } from '../../../src/engine/http/documents/header-schemas.ts'
import { readConditions, tagOf } from '../../../src/engine/http/values/conditions.ts'
import { readIdempotencyKey } from '../../../src/engine/http/values/headers.ts'
import { readCursor, readTokens, writeCursor, writeToken } from '../../../src/engine/http/values/tokens.ts'
import { compileCheck } from '../../../src/engine/lib/values/validation.ts'
import { tokenScope } from './test-services.ts'

const { 'Idempotency-Key': key } = requestHeaders.idempotencyKey('')
const { 'If-Match': ifMatch } = requestHeaders.ifMatch
const { 'If-None-Match': ifNoneMatch } = requestHeaders.ifNoneMatch
const { 'Consistency-Token': tokens, Prefer: prefer } = requestHeaders.consistency()
const { 'Last-Event-ID': lastId } = requestHeaders.lastEventId

/** Texts of what these headers are made of: right, nearly right and wrong. */
const pieces = ['"', '\\', '*', ',', ' ', '\t', 'W/', 'w/', '"a"', 'a', '-', '_', '~', '(', 'é', '\u0007']
const parameters = [';', '; a', ';a=', '"b"', 'c', '1', '=', '*']
const texts = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 8 }).map((parts) => parts.join('')),
  fc.tuple(fc.nat(300), fc.constantFrom('', '"')).map(([length, quote]) => quote + 'k'.repeat(length) + quote),
  fc.nat(300).map((length) => `"${'\\"'.repeat(length)}"`),
  fc.array(fc.constantFrom(...parameters), { maxLength: 6 }).map((parts) => `"a"${parts.join('')}`),
)

describe('the form of a header in the document is that by which it is read', () => {
  const cases: [name: string, form: object, read: (text: string) => unknown][] = [
    ['Idempotency-Key', key, readIdempotencyKey],
    ['If-Match', ifMatch, (text) => readConditions({ 'if-match': text })],
    ['If-None-Match', ifNoneMatch, (text) => readConditions({ 'if-none-match': text })],
  ]
  it.each(cases)('%s', (_, form, read) => {
    const check = compileCheck(form as never)
    fc.assert(
      fc.property(texts, (text) => {
        const isRead = tried(() => read(text))
        expect(check(text) === undefined, text).toBe(isRead)
      }),
      { numRuns: 2000 },
    )
  })
})

it('any Prefer is allowed, since what is unknown is ignored; and a Last-Event-ID that is empty counts as none', () => {
  const check = compileCheck(prefer as never)
  fc.assert(fc.property(fc.oneof(texts, fc.string()), (text) => check(text) === undefined))
  expect(['', ' ', ','].map((text) => compileCheck(lastId as never)(text) === undefined)).toEqual([true, false, false])
})

function tried(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}

describe('what the service hands out has the form of what it takes', () => {
  it('tokens, several of them and of the largest log', () => {
    const position = fc.record({ partition: fc.nat(5), offset: fc.maxSafeNat() })
    const written = fc.array(position).map((positions) => writeToken(tokenScope, positions))
    const separator = fc.constantFrom(',', ', ', '\t,', ' , ', ',,', ', ,\t,')
    const listed = fc.tuple(separator, written).map((parts) => parts.join(''))
    const lists = fc.array(listed, { minLength: 1, maxLength: 5 }).chain((list) => {
      const text = list.join('')
      return fc.constantFrom(text, text.replace(/^[,\s]*/, ''), `${text},`, `${text} ,, `)
    })
    for (const form of [tokens, lastId]) {
      const check = compileCheck(form as never)
      fc.assert(
        fc.property(lists, (text) => {
          readTokens(tokenScope, text)
          expect(check(text)).toBeUndefined()
        }),
      )
    }
    const partitions = 1000
    const largest = Array.from({ length: partitions }, (_, partition) => ({ partition, offset: 2 ** 40 }))
    expect(compileCheck(tokens as never)(writeToken({ logId: 'f00dcafe-1', partitions }, largest))).toBeUndefined()
  })

  it('cursors of every list', () => {
    const check = compileCheck({ type: 'string', ...cursorForm } as never)
    const lists = fc.constantFrom(
      '',
      'available',
      'bookings:',
      'bookings:delivered',
      `versions:${Number.MAX_SAFE_INTEGER}`,
    )
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), lists, (lastId, list) => {
        const cursor = writeCursor(lastId, list)
        expect([check(cursor), readCursor(cursor, list)]).toEqual([undefined, lastId])
      }),
    )
  })

  it('entity tags', () => {
    const check = compileCheck(ifMatch as never)
    fc.assert(
      fc.property(fc.string(), (json) => {
        expect(check(`"${tagOf(json)}"`)).toBeUndefined()
      }),
    )
  })
})
