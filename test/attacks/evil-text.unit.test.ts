import { runInThisContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasChecksum } from '../../src/engine/api-keys/api-keys.ts'
import { inOneLine } from '../../src/engine/cli/output.ts'
import { quickReader } from '../../src/engine/definition/quick-reader.ts'
import { readConditions } from '../../src/engine/http/values/conditions.ts'
import { readIdempotencyKey, readPrefer, readTraceparent } from '../../src/engine/http/values/headers.ts'
import { messageProblem } from '../../src/engine/http/values/messages.ts'
import { compileRequestCheck } from '../../src/engine/http/values/request-values.ts'
import { readCursor, readTokens } from '../../src/engine/http/values/tokens.ts'
import { preflightAnswer } from '../../src/engine/http/wire/cors.ts'
import { isLoopback, networkOf, withoutPort } from '../../src/engine/http/wire/networks.ts'
import { readSpanContext } from '../../src/engine/lib/operating/tracing.ts'
import { parseExactJson } from '../../src/engine/lib/values/exact-json.ts'
import { formats } from '../../src/engine/lib/values/formats.ts'
import { parseInt64 } from '../../src/engine/lib/values/int64.ts'
import { readCloudEvent } from '../../src/engine/log/record-codec.ts'
import { shownEvent, shownEvents } from '../../src/engine/log/shown-event.ts'
import { documentsIn } from '../../src/engine/read-models/document.ts'
import { parseProgressMessage } from '../../src/engine/read-models/redis/redis-progress.ts'
import { decodeDocument } from '../../src/engine/read-models/redis/stored.ts'
import { shardNamed } from '../../src/engine/read-models/shards.ts'
import {
  decodeCheckpoint,
  decodeIdempotencyRecord,
  decodeOffsets,
  decodeParkedStream,
  decodeRow,
} from '../../src/engine/read-models/stored-texts.ts'
import { StreamNames } from '../../src/engine/read-models/stream-names.ts'
import { PetSchema } from '../../src/store/pet.ts'

const names = new StreamNames(['pets', 'categories'])

const preflight = (names: string) => ({
  method: 'OPTIONS',
  headers: {
    origin: 'https://shop.example',
    'access-control-request-method': 'GET',
    'access-control-request-headers': names,
  },
})

const message = { method: 'GET', url: '/', rawHeaders: [], httpVersion: '1.1' }
const checkIds = compileRequestCheck({
  schema: {
    type: 'object',
    properties: { id: { type: 'array', items: { type: 'integer', format: 'int64' }, maxItems: 100 } },
  },
  httpPart: 'querystring',
} as never)

const readPet = quickReader(PetSchema)

/**
 * Whatever reads text that a stranger, another producer, or somebody who can write to Redis wrote. What it makes of it, errors
 * included, is no concern here.
 */
const parsers: Record<string, (text: string) => unknown> = {
  'JSON of a body': parseExactJson,
  'the value of a record': (text) => readCloudEvent(Buffer.from(text), (_, json) => readPet(json)),
  'the document of a pet': readPet,
  'an id in a path': parseInt64,
  'Idempotency-Key': readIdempotencyKey,
  'If-Match': (text) => readConditions({ 'if-match': text }),
  'names of headers in a preflight': (text) => preflightAnswer(new Set(['https://shop.example']), preflight(text)),
  Prefer: readPrefer,
  traceparent: readTraceparent,
  'Consistency-Token': (text) => readTokens({ logId: 'f00dcafe', partitions: 6 }, text),
  cursor: (text) => readCursor(text, 'orders:'),
  'the ids of a query': (text) => checkIds({ id: text }),
  Host: (host) => messageProblem({ ...message, headers: { host } } as never),
  'Host of a probe': isLoopback,
  'X-Forwarded-For': (text) => networkOf(withoutPort(text)),
  'an API key': hasChecksum,
  ...Object.fromEntries(Object.entries(formats).map(([name, { check }]) => [`format ${name}`, check])),
  'an event that is shown': shownEvent,
  'what is told of a record': shownEvents,
  'the traceparent of an event': readSpanContext,
  'the key of a record': (text) => [names.documentOf(text), names.kindOf(text)],
  'text for a terminal': inOneLine,
  'a message of Redis': parseProgressMessage,
  'a document of Redis': (text) => decodeDocument({ collection: 'pets', id: 1 }, text),
  'a page of Redis': documentsIn,
  'a row of Redis': (text) => decodeRow('1', undefined, text),
  'a parked stream of Redis': (text) => decodeParkedStream('1', text),
  'waiting events of Redis': decodeOffsets,
  'an idempotency record of Redis': (text) => decodeIdempotencyRecord({ partition: 0, key: 'k' }, text),
  'a checkpoint of Redis': decodeCheckpoint,
  'the name of a version in Redis': shardNamed,
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
  'strings without an end behind a number': (length) => `[1e1,"${'\\"'.repeat(length / 2)}`,
  'a long number that is none at its end': (length) => `[1e1,${'9'.repeat(length / 2)}.${'9'.repeat(length / 2)}x`,
  'many numbers without a comma': (length) => `[1e1${' 1.1e1'.repeat(length / 6)}`,
  'brackets behind a number': (length) => `[1e1,${'['.repeat(length / 2)}${']'.repeat(length / 2)}]`,
  'an event of strings without an end': (length) => `{"\\u${'\\"'.repeat(length / 2)}`,
  'an event of many members': (length) => `{"\\u0041":0${',"":0'.repeat(length / 5)}}`,
  'ids of a list': (length) => '1,'.repeat(length / 2),
  'parts of a host': (length) => `${'a%41'.repeat(length / 4)}!:`,
  'colons and digits': (length) => ':1'.repeat(length / 2),
  'many colons': (length) => ':'.repeat(length),
  'a network of many parts': (length) => `[${'1.'.repeat(length / 2)}]:x`,
  'a name of many labels': (length) => `a@${'a-a.'.repeat(length / 4)}!`,
  'a label that is long': (length) => `a@${'a-'.repeat(length / 2)}!`,
  'a name in front of no @': (length) => 'a.'.repeat(length / 2),
  'an address with many parts': (length) => `a://${'a@'.repeat(length / 2)}/%`,
  'an address with a long path': (length) => `a:${'/a'.repeat(length / 2)}%`,
  'a time with a long fraction': (length) => `2026-11-20T09:30:00.${'0'.repeat(length)}Z`,
  'progress of many offsets': (length) => `g 0 1 1 ${'1,'.repeat(length / 2)}x`,
  'a row of many entries': (length) => `1x ${'1ABCD,'.repeat(length / 6)} ${' '.repeat(6)}`,
  'many fields': (length) => '1 '.repeat(length / 2),
  'many documents': (length) => ',{"id":1'.repeat(length / 8),
  'many shards': (length) => `${'.s1-1'.repeat(length / 5)}x`,
  'a token of many positions': (length) => Buffer.from(`f00dcafe${':1:1,'.repeat(length / 7)}x`).toString('base64url'),
}

// The longest header, body and event; and a text whose characters are each looked at a few times in hundredths of a second,
// and each for each other one in a minute. The limit is far from both, so a busy machine changes nothing.
const lengths = [16 * 1024, 256 * 1024]
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

it('no more of a list in a query is read than shows that it is too long', () => {
  const values = { id: ','.repeat(16_000) }
  checkIds(values)
  expect(values.id).toHaveLength(101)
})
