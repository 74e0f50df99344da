import fc from 'fast-check'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { declaredIndexes, indexedText, indexesOf } from '../../../src/engine/definition/indexes.ts'
import { Int64Schema, type Resource } from '../../../src/engine/index.ts'
import { beginningOf, setName } from '../../../src/engine/read-models/document.ts'

const status = Type.Enum(['in', 'lent'], { type: 'string' })
const kind = Type.Enum(['a', 'aa', 'b'], { type: 'string' })
const bookId = Int64Schema({ description: 'A book' })
const title = Type.String()
const resource = { filters: { status, kind, bookId, title, note: title }, together: [['title', 'status', 'kind']] }
const indexes = indexesOf(resource)

const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n]
const int64 = fc.bigInt(least, most)
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 140 }), fc.string({ unit: 'grapheme', maxLength: 8 }))
const enumerated = (values: readonly string[]) => fc.constantFrom(undefined, 'other', ...values)
const document = fc.record({
  title: fc.oneof(fc.constant(undefined), text, fc.integer()),
  bookId: int64,
  status: enumerated(['in', 'lent']),
  kind: enumerated(['a', 'aa', 'b']),
})

describe('index keys', () => {
  it('a document has one of the keys of a list exactly if it has the values that are asked for', () => {
    const asked = fc.record({
      title: text.filter((each) => indexedText(each) !== undefined),
      status: fc.constantFrom(undefined, 'in', 'lent'),
      kind: fc.constantFrom(undefined, 'a', 'aa', 'b'),
    })
    const sameOrNot = fc.tuple(document, asked, fc.boolean()).map(([has, wants, isSame]) => {
      return [isSame ? { ...has, title: wants.title } : has, wants] as const
    })
    fc.assert(
      fc.property(sameOrNot, ([has, wants]) => {
        const given = Object.fromEntries(Object.entries(wants).filter(([, value]) => value !== undefined)) as Record<
          string,
          string
        >
        const keys = indexes.keysFor(given) ?? []
        const isAsked = Object.entries(given).every(([name, value]) => String(has[name as keyof typeof has]) === value)
        expect(indexes.keysOf(has).filter((key) => keys.includes(key))).toHaveLength(isAsked ? 1 : 0)
        expect(new Set(keys.map((key) => setName('books', key))).size).toBe(1)
        expect(keys.length).toBeLessThanOrEqual(16)
      }),
      { numRuns: 1000 },
    )
  })

  it.each(['title', 'note'])('none begins with another, so that no range has the documents of two: %s', (name) => {
    const keyOf = (value: string) => indexes.keysOf({ [name]: value }).map(beginningOf)[0] ?? ''
    const more = fc.oneof(text, fc.string({ unit: fc.constantFrom(' ', 'a', '0') }))
    fc.assert(
      fc.property(text, more, (one, rest) => {
        const [key, other] = [keyOf(one), keyOf(one + rest)]
        if (key !== '' && other !== '' && rest !== '') expect(other.startsWith(key)).toBe(false)
      }),
      { numRuns: 1000 },
    )
  })

  it('an int64 has the key of its decimal, whichever form it has', () => {
    for (const value of [least, -1n, 0n, 7n, most]) {
      const [key] = indexes.keysFor({ bookId: String(value) }) ?? []
      expect(indexes.keysOf({ bookId: value })).toEqual([key])
      if (Number.isSafeInteger(Number(value))) expect(indexes.keysOf({ bookId: Number(value) })).toEqual([key])
    }
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['an empty text', ''],
    ['129 code points', '\u{1F436}'.repeat(129)],
    ['NUL', 'a\0'],
    ['a lone surrogate', 'a\ud83d'],
    ['a number that is no int64', 1.5],
    ['a number beyond 2^53', 2 ** 53],
    ['an integer beyond int64', most + 1n],
    ['an object', {}],
  ])('no index has %s', (_, value) => {
    expect(indexedText(value)).toBeUndefined()
    expect(indexes.keysOf({ title: value as string, status: 'in' })).toEqual(['status:in'])
  })

  it.each(['a', '\u{1F436}'.repeat(128), ' ', '{"id":1}', '1:a', 'a=b:c'])('an index has %j', (value) => {
    expect(indexes.keysOf({ title: value })).toHaveLength(1)
  })

  it('what does not go together has none', () => {
    for (const names of [
      ['status', 'kind'],
      ['title', 'bookId'],
      ['bookId', 'status'],
    ])
      expect(indexes.keysFor(Object.fromEntries(names.map((name) => [name, '1'])))).toBeUndefined()
  })
})

describe('what tells declared indexes apart', () => {
  const declared = (over: object) => declaredIndexes({ books: { ...resource, ...over } })

  it('is another with any name, type, and enumeration beside', () => {
    const all = [
      declared({}),
      declared({ together: [['title', 'status']] }),
      declared({ together: [] }),
      declared({ filters: { ...resource.filters, title: bookId } }),
      declared({ filters: { ...resource.filters, name: title } }),
      declared({ filters: { ...resource.filters, kind: Type.Enum(['a', 'aa'], { type: 'string' }) } }),
      declaredIndexes({ loans: resource }),
    ]
    expect(new Set(all).size).toBe(all.length)
  })

  it('is another with an enumeration that is new, and not with a value of one', () => {
    const declaring = (filters: NonNullable<Resource['filters']>) => declaredIndexes({ books: { filters }, loans: {} })
    expect(declaring({ status, kind })).not.toBe(declaring({ status }))
    expect(declaring({ status: Type.Enum(['in'], { type: 'string' }) })).toBe(declaring({ status }))
  })

  it('is the same in any order, and nothing where nothing is declared', () => {
    const turned = Object.fromEntries(Object.entries(resource.filters).reverse())
    expect(declared({ filters: turned })).toBe(declared({}))
    expect(declaredIndexes({ books: {}, loans: {} })).toBe('')
  })
})
