import { crc32 } from 'node:zlib'
import { hasChecksum } from '../../src/engine/api-keys/api-keys.ts'
import { HttpClient } from '../lib/http-client.ts'
import type { Attack } from './attackers.ts'

/** The heap with which all of these have to be outlived. */
export const heapOption = '--max-old-space-size=512'

/** The most bytes of requests that may wait for their turn, on all connections together. */
export const waitingBytesMax = 64 * 2 ** 20

export interface BytesAndTurns extends Attack {
  /** The code of the error that most of its answers are; undefined where they are none. */
  readonly refusedAs?: string
}

const head = (line: string, ...headers: string[]) => [line, 'Host: a', ...headers, '', ''].join('\r\n')
const get = (path: string, ...headers: string[]) => head(`GET ${path} HTTP/1.1`, ...headers)

/** It may have been issued a moment ago, so it is refused only after a look at the file of keys. */
const unknown = `Authorization: Bearer ${withChecksum(`petstore_${'x'.repeat(43)}`)}`

function withChecksum(secret: string): string {
  const key = secret + crc32(secret).toString(16).padStart(8, '0')
  if (!hasChecksum(key)) throw new Error('keys have another checksum now')
  return key
}

// The value has two characters: V8 has the texts of one character already.
const tinyHeaders = (count: number) => Array<string>(count).fill('a:bc')
const largeHead = get('/v1/pets/1', unknown, ...tinyHeaders(150), `X-Large: ${'x'.repeat(15_000)}`)
const manyHeaders = get('/v1/pets/1', unknown, ...tinyHeaders(2500))

/** So many wait, and another one comes whenever one has been answered. */
function keepWaiting(request: string, waiting = 99): Pick<Attack, 'first' | 'again' | 'everyMs' | 'reads'> {
  return { first: request.repeat(waiting), again: request, everyMs: 120, reads: true }
}

/** What a client has the service keep of its requests, or has others wait for. `key` is one that is valid. */
export function bytesAndTurns(key: string): Readonly<Record<string, BytesAndTurns>> {
  const page = get('/v1/pets?limit=100', `Authorization: Bearer ${key}`)
  return {
    '400 connections of a hundred heads of 16 KiB with unknown keys': { connections: 400, ...keepWaiting(largeHead) },
    '400 connections of seven heads of 16 KiB with unknown keys': {
      connections: 400,
      ...keepWaiting(largeHead, 7),
      refusedAs: 'unauthorized',
    },
    '40 connections of 2,500 headers with unknown keys': {
      connections: 40,
      ...keepWaiting(manyHeaders),
      refusedAs: 'headers_too_large',
    },
    '1,000 connections of 100 tiny requests at once': {
      connections: 1000,
      first: get('/v1/pets').repeat(100),
      reads: true,
      refusedAs: 'unauthorized',
    },
    '50 connections of 2,600 headers every 20 ms': {
      connections: 50,
      first: '',
      again: get('/', ...tinyHeaders(2600)),
      everyMs: 20,
      reads: true,
      refusedAs: 'headers_too_large',
    },
    '200 connections that ask for 100 scripts and do not read': {
      connections: 200,
      first: get('/docs/static/swagger-ui-bundle.js').repeat(100),
    },
    '200 connections that never stop asking for documents and do not read': {
      connections: 200,
      first: '',
      again: get('/openapi.json').repeat(50),
    },
    '200 connections of a key that ask for 100 pages and do not read': { connections: 200, first: page.repeat(100) },
    '200 connections of a key that never stop asking for pages and do not read': {
      connections: 200,
      first: '',
      again: page.repeat(50),
    },
  }
}

/** As many as a page has. */
const petsOfPage = 100

/** Adds pets with the longest names, on one connection; resolves to the id of one that can be read. */
export async function addPets(url: string, key: string, count = petsOfPage): Promise<number> {
  const client = new HttpClient({ url }, key)
  const pet = { name: 'x'.repeat(128), categoryId: 1 }
  let id = 0
  for (let added = 0; added < count; added++) {
    const { status, text, body } = await client.send('POST', '/v1/pets', pet, { prefer: 'wait=10' })
    if (status !== 201) throw new Error(`POST was answered ${status}: ${text}`)
    ;({ id } = body as { id: number })
  }
  return id
}
