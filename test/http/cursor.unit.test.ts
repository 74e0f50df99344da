import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { orderStatuses } from '../../src/domain/order.ts'
import { petStatuses } from '../../src/domain/pet.ts'
import { readCursor, writeCursor } from '../../src/http/tokens.ts'
import { ServiceError } from '../../src/lib/errors.ts'

const lists = ['', ...petStatuses, 'orders:', ...orderStatuses.map((status) => `orders:${status}`)]
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/='

const refusal = (cursor: string, list?: string): string | undefined => {
  try {
    readCursor(cursor, list)
    return undefined
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error)
  }
}

describe('a cursor', () => {
  it('gives back its id for its list, and is refused for every other', () => {
    const id = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(id, fc.constantFrom(...lists), (id, list) => {
        const cursor = writeCursor(id, list)
        expect(cursor).toMatch(/^[\w-]+$/)
        expect(readCursor(cursor, list)).toBe(id)
        for (const other of lists) if (other !== list) expect(refusal(cursor, other)).toBe('invalid_cursor')
      }),
    )
  })

  it('is refused with any one character changed, added or taken away', () => {
    for (const list of ['', 'sold', 'orders:placed']) {
      const cursor = writeCursor(987654321, list)
      for (let at = 0; at <= cursor.length; at++) {
        const [before, after] = [cursor.slice(0, at), cursor.slice(at + 1)]
        if (at < cursor.length) expect(refusal(before + after, list)).toBe('invalid_cursor')
        for (const character of [...alphabet, ' ', '\n', '\0', 'é']) {
          if (character !== cursor[at]) expect(refusal(before + character + after, list)).toBe('invalid_cursor')
          expect(refusal(before + character + cursor.slice(at), list)).toBe('invalid_cursor')
        }
      }
    }
  })

  it('is refused when it is anything else', () => {
    const others = [
      '',
      'abc',
      '0',
      '=',
      'null',
      btoa('1:5:'),
      btoa('1:5::0'),
      btoa('{}'),
      writeCursor(5, 'sold').repeat(2),
    ]
    for (const other of others) expect(refusal(other)).toBe('invalid_cursor')
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(refusal(text)).toBe('invalid_cursor')
      }),
    )
  })

  it('is refused for an id that nothing can have', () => {
    for (const id of [0, -1, 2 ** 53, 1.5]) expect(refusal(writeCursor(id))).toBe('invalid_cursor')
  })

  it('keeps its form as long as its version: pages begun before this release go on', () => {
    expect(writeCursor(20)).toBe('MToyMDo6ZmI1MGEwNTE')
    expect(writeCursor(42, 'sold')).toBe('MTo0Mjpzb2xkOjhjZDcwYWNm')
  })
})
