import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { WrittenPet } from '../../src/domain/pet.ts'
import { readCloudEvent } from '../../src/event-log/record-codec.ts'
import { readCondition, readIdempotencyKey, readPrefer, readTraceparent } from '../../src/http/headers.ts'
import { readCursor, readTokens } from '../../src/http/tokens.ts'
import { parseExactJson } from '../../src/lib/exact-json.ts'
import { parseInt64 } from '../../src/lib/int64.ts'

/** Whatever reads text that a stranger or another producer wrote. What it makes of it, errors included, is no concern here. */
const parsers: Record<string, (text: string) => unknown> = {
  'JSON of a body': parseExactJson,
  'the value of a record': (text) => readCloudEvent(Buffer.from(text), (json) => WrittenPet.in(json)),
  'the document of a pet': (text) => WrittenPet.in(text),
  'an id in a path': parseInt64,
  'Idempotency-Key': readIdempotencyKey,
  'If-Match': (text) => readCondition('If-Match', text, { log: { logId: 'f00dcafe' }, readModelVersion: 'pets-1' }),
  Prefer: readPrefer,
  traceparent: readTraceparent,
  'Consistency-Token': (text) => readTokens({ logId: 'f00dcafe', partitions: 6 }, text),
  cursor: (text) => readCursor(text, 'orders:'),
}

const envelope = (data: string) =>
  `{"specversion":"1.0","id":"1","type":"petstore.PetCreated.v1","source":"/v1/pets","subject":"1",` +
  `"time":"2026-11-20T09:30:00.000Z","datacontenttype":"application/json","data":{${data}}}`

/** Texts of about `length` characters, each made to have some parser look at its characters again and again. */
const evilTexts: Record<string, (length: number) => string> = {
  'a number that ends in 1 behind many zeros': (length) => `{"categoryId":1.${'0'.repeat(length)}1}`,
  'a number of many digits': (length) => `[${'9'.repeat(length)}]`,
  'a number with many zeros on both sides': (length) => `[${'0'.repeat(length / 2)}.${'0'.repeat(length / 2)}e9]`,
  'many short numbers': (length) => `[${'1.1e1,'.repeat(length / 6)}1]`,
  'almost exponents': (length) => '1.1:1.1 1.1[1.1'.repeat(length / 15),
  'many brackets': (length) => '['.repeat(length),
  'an event with such a number': (length) => envelope(`"id":1,"categoryId":1.${'0'.repeat(length)}1`),
  'an event with many braces': (length) => envelope(`"id":1}${'}'.repeat(length)}`),
  'an event that is one no longer at its end': (length) => `${envelope(`"name":"${'}'.repeat(length)}"`)}]`,
  'a pet with a long name': (length) => `{"id":1,"name":"${' '.repeat(length)}","categoryId":7,"status":"sold"}`,
  'many digits': (length) => '1'.repeat(length),
  'many spaces': (length) => ' '.repeat(length),
  'many quotes': (length) => '"'.repeat(length),
  'many backslashes': (length) => `"${'\\'.repeat(length)}`,
  'escapes without an end': (length) => `"${'\\"'.repeat(length / 2)}`,
  'many commas': (length) => ','.repeat(length),
  'commas and spaces': (length) => ', '.repeat(length / 2),
  'one comma and many spaces': (length) => `,${' '.repeat(length)}x`,
  'many tags': (length) => 'W/"a" ,'.repeat(length / 7),
  'a list of tags that is none at its end': (length) => `${'"a" , '.repeat(length / 6)}x`,
  'many waits': (length) => ', wait =\t'.repeat(length / 9),
  'a wait of many spaces': (length) => `wait${' '.repeat(length / 2)}=${' '.repeat(length / 2)}x`,
  'a token of many positions': (length) => Buffer.from(`f00dcafe${':1:1,'.repeat(length / 7)}x`).toString('base64url'),
}

// The longest header, and half the longest body. Eight times as much takes eight times as long where every character is
// looked at once, and 64 times where each is looked at for each; what is between is for the noise of short times.
const short = 8 * 1024
const [growth, growthMax, noiseMs] = [8, 24, 0.2]
const runsMax = 50

/** Whether `parse` takes about eight times as long for eight times the text. Only the fastest runs count: all else adds. */
function isProportional(parse: (text: string) => unknown, evil: (length: number) => string): boolean {
  const [text, longer] = [evil(short), evil(short * growth)]
  const fastest = { text: Number.POSITIVE_INFINITY, longer: Number.POSITIVE_INFINITY }
  for (let run = 0; run < runsMax; run++) {
    fastest.text = Math.min(fastest.text, timeOf(parse, text))
    fastest.longer = Math.min(fastest.longer, timeOf(parse, longer))
    if (run > 2 && fastest.longer < growthMax * fastest.text + noiseMs) return true
  }
  return false
}

function timeOf(parse: (text: string) => unknown, text: string): number {
  const start = performance.now()
  try {
    parse(text)
  } catch {}
  return performance.now() - start
}

describe.each(Object.entries(evilTexts))('%s', (_what, evil) => {
  it.each(Object.entries(parsers))('costs %s no more than its length', (_name, parse) => {
    expect(isProportional(parse, evil)).toBe(true)
  })
})

it('no text of repeated pieces costs more than its length', () => {
  const piece = fc.stringMatching(/^[ \t\\"0-9.eE+\-,:;[\]{}Ww/=ait]{1,6}$/)
  const evil = fc.tuple(piece, piece, piece).map(
    ([before, repeated, after]) =>
      (length: number) =>
        before + repeated.repeat(length / repeated.length) + after,
  )
  fc.assert(
    fc.property(evil, fc.constantFrom(...Object.values(parsers)), (text, parse) => isProportional(parse, text)),
    { numRuns: 300 },
  )
})
