import fc from 'fast-check'
import { type TSchema, Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { quickReader } from '../../../src/engine/definition/quick-reader.ts'
import { exactJson, parseExactJson } from '../../../src/engine/lib/values/exact-json.ts'
import { compileCheck } from '../../../src/engine/lib/values/validation.ts'
import { anyCharacter } from '../../lib/any-character.ts'
import { edited } from '../../lib/edited-text.ts'

const closed = { additionalProperties: false }
const words = ['in', 'out of order', 'a.b|c', '']

const anyText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 10 }),
  fc.constantFrom('a', 'ab', 'Zoë', '2026-11-20', '2026-13-20', '犬', '🐕', '\u2028', '\u007f', "{'}[,]:"),
)
const anyInteger = fc.oneof(
  fc.integer(),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
  fc.constantFrom(0, -0, 1, -1, 1.5, 1e15, 999_999_999_999_999, 9_007_199_254_740_993n),
)

const names = fc.uniqueArray(fc.constantFrom<string[]>('id', 'name', 'a"b', 'a.b', 'é', '1', '$&', 'type'), {
  minLength: 1,
  maxLength: 5,
})

/** A member that quick reading knows, and values of which most are accepted. */
const kinds: fc.Arbitrary<{ schema: TSchema; value: fc.Arbitrary<unknown> }> = fc.oneof(
  fc
    .record(
      {
        minLength: fc.nat(3),
        maxLength: fc.nat(9),
        pattern: fc.constantFrom('\\S', '^\\s*\\S', '^a', '[^b]$', '^.{2}$', '^[\\p{L} ]*$'),
        format: fc.constantFrom('well-formed', 'date', 'uuid'),
        description: fc.constant('A text'),
      },
      { requiredKeys: [] },
    )
    .map((options) => ({ schema: Type.String(options), value: anyText })),
  fc
    .record(
      { minimum: fc.integer({ min: -9, max: 1 }), maximum: fc.constantFrom(5, Number.MAX_SAFE_INTEGER) },
      { requiredKeys: [] },
    )
    .map((options) => ({ schema: Type.Integer(options), value: anyInteger })),
  fc.constant({ schema: Type.Unsafe({ type: 'integer', format: 'int64' }), value: anyInteger }),
  fc.constant({ schema: Type.Enum(words, { type: 'string' }), value: fc.constantFrom(...words, 'on') }),
  fc.constant({ schema: Type.Boolean(), value: fc.boolean() }),
)
/** A schema, and an object in the order of it. */
const samples = names.chain((of) =>
  fc
    .tuple(
      fc.array(kinds, { minLength: of.length, maxLength: of.length }),
      fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    )
    .chain(([members, optional]) => {
      const isOptional = (i: number) => i > 0 && optional[i] === true
      const properties = members.map(({ schema }, i) => [of[i], isOptional(i) ? Type.Optional(schema) : schema])
      const value = members.map((member, i) =>
        isOptional(i) ? fc.option(member.value, { nil: undefined }) : member.value,
      )
      return fc.record({
        schema: fc.constantFrom(closed, {}).map((options) => Type.Object(Object.fromEntries(properties), options)),
        json: fc.tuple(...value).map((values) => {
          const given = Object.keys(Object.fromEntries(properties)).flatMap((name) => {
            const value = values[of.indexOf(name)]
            return value === undefined ? [] : [[name, value] as const]
          })
          return exactJson(Object.fromEntries(given))
        }),
      })
    }),
)

describe('what is read quickly', () => {
  it('is what the schema accepts, as parsing gives it, member by member', () => {
    let quick = 0
    let refused = 0
    const anyEdit = samples.chain(({ schema, json }) =>
      fc.record({ schema: fc.constant(schema), text: fc.oneof(fc.constant(json), edited(fc.constant(json))) }),
    )
    fc.assert(
      fc.property(anyEdit, ({ schema, text }) => {
        const read = quickReader(schema)(text)
        if (read === undefined) return void refused++
        quick++
        const data = parseExactJson(text)
        expect(compileCheck(schema)(data)).toBeUndefined()
        expect(read).toStrictEqual(data)
        expect(exactJson(read)).toBe(text)
      }),
      { numRuns: 3000 },
    )
    expect(quick).toBeGreaterThan(200)
    expect(refused).toBeGreaterThan(200)
  })

  const book = Type.Object(
    {
      id: Type.Integer({ format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      name: Type.String({
        minLength: 1,
        maxLength: 5,
        pattern: '^\\s*\\S',
        format: 'well-formed',
        'x-rule': 'must be',
      }),
      status: Type.Optional(Type.Enum(['in', 'out'], { type: 'string', title: 'Status' })),
      isNew: Type.Boolean(),
    },
    closed,
  )
  const read = quickReader(book)

  it.each(['{"id":7,"name":"Emma","status":"in","isNew":true}', '{"id":999999999999999,"name":" 犬","isNew":false}'])(
    'has any members that are there: %s',
    (text) => expect(read(text)).toEqual(JSON.parse(text)),
  )

  it.each([
    ['white space', '{"id": 7,"name":"Emma","isNew":true}'],
    ['an escape', '{"id":7,"name":"\\u0045mma","isNew":true}'],
    ['half a character', '{"id":7,"name":"\ud83d","isNew":true}'],
    ['two of a character', '{"id":7,"name":"🐕","isNew":true}'],
    ['a text that is too long', '{"id":7,"name":"Emmaaa","isNew":true}'],
    ['a text that the pattern refuses', '{"id":7,"name":"  ","isNew":true}'],
    ['a value that is none of the choice', '{"id":7,"name":"Emma","status":"on","isNew":true}'],
    ['a number below the least', '{"id":0,"name":"Emma","isNew":true}'],
    ['a number that could be rounded', '{"id":9007199254740993,"name":"Emma","isNew":true}'],
    ['minus zero', '{"id":-0,"name":"Emma","isNew":true}'],
    ['another order', '{"name":"Emma","id":7,"isNew":true}'],
    ['a member twice', '{"id":7,"id":7,"name":"Emma","isNew":true}'],
    ['a member more', '{"id":7,"name":"Emma","isNew":true,"age":1}'],
    ['a member less', '{"id":7,"name":"Emma"}'],
    ['more behind it', '{"id":7,"name":"Emma","isNew":true}\n'],
  ])('does not have %s', (_, text) => expect(read(text)).toBeUndefined())
})

const ofId = (member: TSchema, more = {}) => Type.Object({ id: Type.Integer(), of: member }, more)

it.each<[what: string, schema: TSchema, json: string]>([
  ['an object in it', ofId(Type.Object({})), '{"id":1,"of":{}}'],
  ['a list in it', ofId(Type.Array(Type.Integer())), '{"id":1,"of":[]}'],
  ['a number that is no integer', ofId(Type.Number()), '{"id":1,"of":1}'],
  ['a keyword of another kind', ofId(Type.Integer({ multipleOf: 2 })), '{"id":1,"of":2}'],
  ['a keyword of its own', ofId(Type.Integer(), { minProperties: 1 }), '{"id":1,"of":2}'],
  ['two types', ofId(Type.Unsafe({ type: ['string', 'null'] })), '{"id":1,"of":"a"}'],
  ['a choice of numbers', ofId(Type.Unsafe({ type: 'integer', enum: [1] })), '{"id":1,"of":1}'],
  ['a choice that needs escapes', ofId(Type.Enum(['a', '"'], { type: 'string' })), '{"id":1,"of":"a"}'],
  ['an optional first member', Type.Object({ id: Type.Optional(Type.Integer()) }), '{"id":1}'],
  ['no member', Type.Object({}), '{}'],
  [
    'a member that all objects have',
    Type.Object({ id: Type.Integer(), toString: Type.Optional(Type.String()) }),
    '{"id":1,"toString":"a"}',
  ],
])('what has %s is not read quickly', (_, schema, json) => {
  expect(compileCheck(schema)(parseExactJson(json))).toBeUndefined()
  expect(quickReader(schema)(json)).toBeUndefined()
})

it('what lacks a required member that no schema describes is not read quickly', () => {
  const schema = Type.Unsafe({ type: 'object', properties: { id: { type: 'integer' } }, required: ['id', 'name'] })
  expect(quickReader(schema)('{"id":1}')).toBeUndefined()
})
