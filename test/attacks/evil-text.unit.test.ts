import { runInThisContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readConditions } from '../../src/engine/http/conditions.ts'
import { preflightAnswer } from '../../src/engine/http/cors.ts'
import { readIdempotencyKey, readPrefer, readTraceparent } from '../../src/engine/http/headers.ts'
import { readCursor, readTokens } from '../../src/engine/http/tokens.ts'
import { parseExactJson } from '../../src/engine/lib/exact-json.ts'
import { parseInt64 } from '../../src/engine/lib/int64.ts'
import { readCloudEvent } from '../../src/engine/log/record-codec.ts'
import { WrittenPet } from '../../src/store/pet.ts'

const preflight = (names: string) => ({
  method: 'OPTIONS',
  headers: {
    origin: 'https://shop.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': names,
  },
})

/** Whatever reads text that a stranger or another producer wrote. What it makes of it, errors included, is no concern here. */
const parsers: Record<string, (text: string) => unknown> = {
  'JSON of a body': parseExactJson,
  'the value of a record': (text) => readCloudEvent(Buffer.from(text), (json) => WrittenPet.in(json)),
  'the document of a pet': (text) => WrittenPet.in(text),
  'an id in a path': parseInt64,
  'Idempotency-Key': readIdempotencyKey,
  'If-Match': (text) => readConditions({ 'if-match': text }),
  'names of headers in a preflight': (text) => preflightAnswer(new Set(['https://shop.example']), preflight(text)),
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

// The longest header, and a MiB: its characters are each looked at a few times in hundredths of a second, and each for
// each other one in minutes. The limit is far from both, so a busy machine changes nothing.
const lengths = [8 * 1024, 1024 * 1024]
const limitMs = 10_000

/** Stops `parse` at the limit, even in the middle of a regular expression. */
function parseWithinLimit(parse: (text: string) => unknown, evil: (length: number) => string) {
  for (const text of lengths.map(evil)) {
    let ended = false
    const parseOnce = () => {
      try {
        parse(text)
      } catch {}
      ended = true
    }
    Object.assign(globalThis, { parseOnce })
    runInThisContext('parseOnce()', { timeout: limitMs })
    expect(ended).toBe(true)
  }
}

describe.each(Object.entries(evilTexts))('%s', (_what, evil) => {
  it.each(Object.entries(parsers))('costs %s no more than its length', (_name, parse) => {
    parseWithinLimit(parse, evil)
  })
})

it('no text of repeated pieces costs more than its length', () => {
  const piece = fc.stringMatching(/^[ \t\\"0-9.eE+\-,:;[\]{}Ww/=ait]{1,6}$/)
  const evil = fc.tuple(piece, piece, piece).map(
    ([before, repeated, after]) =>
      (length: number) =>
        before + repeated.repeat(length / repeated.length) + after,
  )
  fc.assert(fc.property(fc.constantFrom(...Object.values(parsers)), evil, parseWithinLimit), { numRuns: 300 })
})
