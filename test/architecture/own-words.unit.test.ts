import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { library } from '../../examples/loans/library.ts'
import { type Definition, define } from '../../src/engine/definition/definition.ts'
import { store } from '../../src/store/service.ts'
import { theatre } from '../engine/theatre/theatre.ts'
import { shownTexts } from '../lib/shown-texts.ts'
import { storeWords } from '../lib/store-words.ts'

const petstore = define(store.service)
const services: readonly Definition[] = [petstore, theatre as unknown as Definition, define(library.service)]

/** What a service calls itself and its things. An order is a common word, too: see `storeWords`. */
function wordsOf({ service: { name, title }, resources }: Definition): string[] {
  const things = resources.flatMap(({ noun, collection, called }) => [noun, collection, called.one, called.several])
  const words = [name, ...title.split(' '), ...things].map((word) => word.toLowerCase())
  return [...new Set(words)].filter((word) => word !== 'order' && word !== 'orders')
}

/** Also where it is joined with others, as in `newBook` and BOOK_ID. */
const word = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g

/** Each word of a service that is none of `own`, with what is around it. */
function foreignIn(text: string, own?: Definition): string[] {
  const all = services.filter((each) => each !== own).flatMap(wordsOf)
  const ofItsOwn = JSON.stringify(own?.service ?? '').match(word) ?? []
  const foreign = new Set(all).difference(new Set(ofItsOwn.map((each) => each.toLowerCase())))
  const words = [...text.matchAll(word)].filter(([each]) => foreign.has(each.toLowerCase()))
  const orders = own === petstore ? [] : text.matchAll(new RegExp(storeWords, 'g'))
  return [...words, ...orders].map(({ index }) => text.slice(Math.max(0, index - 60), index + 60))
}

/** The folders of this checkout may be called anything. */
const withoutPaths = (text: string) => text.replaceAll(process.cwd(), '').replaceAll(dirname(process.execPath), '')

it.each(services)('$service.title shows no word of another service', { timeout: 120_000 }, async (definition) => {
  const texts = await shownTexts(definition)
  const found = [...texts].flatMap(([where, text]) =>
    foreignIn(withoutPaths(text), definition).map((around) => `${where}: ${around}`),
  )
  expect(found).toEqual([])
  for (const part of [
    'banner',
    'log',
    'GET /',
    'GET /docs/errors',
    'GET /console',
    'GET /console/api/runbook',
    'GET /metrics',
  ])
    expect(texts.get(part), part).toMatch(/\w{3}/)
  const [operations, commands] = ['/v1/', 'command '].map((way) => [...texts.keys()].filter((key) => key.includes(way)))
  expect([operations?.length, commands?.length]).toEqual([expect.toSatisfy(atLeast(20)), expect.toSatisfy(atLeast(60))])
})

it('no text of the engine, seen or not, has a word of a service', () => {
  const files = globSync('src/engine/**/*.{ts,js,md,html,lua}')
  const comments = /\/\*.*?\*\/|(?<!:)\/\/.*?$|--\[\[.*?\]\]/gms
  const found = files.flatMap((file) =>
    foreignIn(readFileSync(file, 'utf8').replaceAll(comments, '')).map((around) => `${file}: ${around}`),
  )
  expect(files.length).toBeGreaterThan(150)
  expect(found).toEqual([])
})

const atLeast = (count: number) => (found: number) => found >= count

it.each(['newLoan', 'LOAN_ID', 'libraryKey', 'pets', 'GET /v1/store/orders', 'order 12'])(
  'finds a word of another service, joined or not: %s',
  (text) => expect(foreignIn(text, theatre as unknown as Definition)).not.toEqual([]),
)

it.each(['a seat', 'in order', 'petty', 'BookingPlaced', 'notebook'])('finds no other words: %s', (text) =>
  expect(foreignIn(text, theatre as unknown as Definition)).toEqual([]),
)
