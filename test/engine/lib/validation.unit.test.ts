import { Ajv } from 'ajv'
import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { Int64Schema } from '../../../src/engine/lib/values/int64.ts'
import { compileCheck } from '../../../src/engine/lib/values/validation.ts'
import { NewSeatSchema, SeatSchema } from '../theatre/seats.ts'

const valid = { name: 'A12', rowId: 7 }

describe('compileCheck', () => {
  const check = compileCheck(NewSeatSchema)

  it('says nothing of a valid value', () => {
    expect(check(valid)).toBeUndefined()
    expect(check({ ...valid, rowId: 9007199254740993n, status: 'sold' })).toBeUndefined()
  })

  it('quotes a name that it does not know as JSON would', () => {
    expect(check({ ...valid, 'a\n"b"': 1 })).toBe('"a\\n\\"b\\"" is not allowed here')
  })

  it('tells five problems and how many more there are', () => {
    const unknown = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, 1]))
    expect(check({ ...valid, ...unknown })).toBe(
      '"a" is not allowed here; "b" is not allowed here; "c" is not allowed here; "d" is not allowed here; "e" is not allowed here; and 2 more',
    )
  })

  it('counts problems without an end, and describes only the first ones', () => {
    let described = 0
    const why = new Proxy({}, { getOwnPropertyDescriptor: () => void described++ })
    const closed = { type: 'object', properties: {}, additionalProperties: false, 'x-not-allowed': why }
    const unknown = Object.fromEntries(Array.from({ length: 2000 }, (_, number) => [`a${number}`, 1]))
    expect(compileCheck(closed)(unknown)).toMatch(/^"a0" is not allowed here; .*; and 1995 more$/)
    expect(described).toBeLessThan(200)
  })

  it.each([
    ['status', '"status" is not allowed here: others change it'],
    ['toString', '"toString" is not allowed here'],
  ])('says why a member cannot be sent, where the schema says it: %s', (name, problem) => {
    const why = { status: 'others change it' }
    const closed = { type: 'object', properties: {}, additionalProperties: false, 'x-not-allowed': why }
    expect(compileCheck(closed)({ [name]: 1 })).toBe(problem)
  })

  it.each<[schema: object, problem: RegExp]>([
    [{ minimun: 1 }, /unknown keyword: "minimun"/],
    [{ type: 'integer', minimum: '1' }, /minimum value must be/],
    [{ type: 'strnig' }, /type must be/],
    [{ type: 'string', pattern: '^a', 'x-rule': { en: 'must begin with a' } }, /x-rule value must be/],
    [{ type: 'object', 'x-not-allowed': 'id' }, /x-not-allowed value must be/],
    [{ type: 'string', format: 'well-frmed' }, /^unknown format "well-frmed": the formats are int64, date, /],
    [
      { type: 'object', properties: { at: { type: 'array', items: { anyOf: [{ type: 'string', format: 'tme' }] } } } },
      /^unknown format "tme" at properties\/at\/items\/anyOf\/0: /,
    ],
  ])('a schema that is none is refused when it is first used: %j', (schema, problem) => {
    expect(() => compileCheck(schema)('')).toThrow(problem)
  })

  it('names a field inside another', () => {
    const nested = compileCheck(Type.Object({ seats: Type.Array(Type.Object({ name: Type.String() })) }))
    expect(nested({ seats: [{ name: 'A12' }, { name: 1 }] })).toBe('seats.1.name must be string')
  })
})

const seat = (schema: object) => ({ type: 'object', properties: { seat: schema } })
const having = (member: string) => ({ type: 'object', required: [member], properties: { [member]: {} } })
const kinds = [{ type: 'string' }, { type: 'integer' }, { type: 'number' }]

/** What a value must be, by the keyword that asks for it: with the schema of `seat`, and a value of it that is refused. */
const refusals: Readonly<Record<string, readonly (readonly [schema: object, value: unknown, problem: string])[]>> = {
  type: [
    [{ type: 'string' }, 1, 'seat must be string'],
    [{ type: 'boolean' }, 1, 'seat must be true or false'],
    [{ type: ['string', 'null'] }, 1, 'seat must be string or null'],
  ],
  nullable: [[{ type: 'string', nullable: true }, 1, 'seat must be string']],
  enum: [[{ enum: ['in', '', 2, null] }, 3, 'seat must be one of in, "", 2, null']],
  const: [
    [{ const: 'in' }, 'out', 'seat must be in'],
    [{ const: null }, 'out', 'seat must be null'],
  ],
  minimum: [[{ type: 'integer', minimum: 1 }, 0, 'seat must be at least 1']],
  maximum: [[{ type: 'integer', maximum: 9 }, 10, 'seat must be at most 9']],
  exclusiveMinimum: [[{ type: 'number', exclusiveMinimum: 1 }, 1, 'seat must be more than 1']],
  exclusiveMaximum: [[{ type: 'number', exclusiveMaximum: 9 }, 9, 'seat must be less than 9']],
  multipleOf: [[{ type: 'integer', multipleOf: 5 }, 4, 'seat must be a multiple of 5']],
  minLength: [
    [{ type: 'string', minLength: 1 }, '', 'seat must have at least one character'],
    [{ type: 'string', minLength: 2 }, 'a', 'seat must have at least 2 characters'],
  ],
  maxLength: [[{ type: 'string', maxLength: 10 }, 'a'.repeat(11), 'seat must have at most 10 characters']],
  pattern: [[{ type: 'string', pattern: '^\\w+$' }, '-', 'seat must have the form that its schema gives']],
  format: [[{ type: 'string', format: 'date' }, '-', 'seat must be a date such as 2026-11-20']],
  minItems: [[{ type: 'array', minItems: 1, items: {} }, [], 'seat must have at least one item']],
  maxItems: [[{ type: 'array', maxItems: 2, items: {} }, [1, 2, 3], 'seat must have at most 2 items']],
  items: [
    [{ type: 'array', items: { type: 'string' } }, ['A', 1], 'seat.1 must be string'],
    [{ type: 'array', items: false }, [1], 'seat.0 is not allowed here'],
  ],
  additionalItems: [
    [{ type: 'array', items: [{}], minItems: 1, additionalItems: false }, [1, 2], 'seat must have at most one item'],
  ],
  uniqueItems: [[{ type: 'array', uniqueItems: true, items: {} }, [1, 1], 'seat must not have an item twice']],
  contains: [
    [{ type: 'array', contains: { const: 1 }, items: {} }, [2, 3], 'seat must have an item that its schema asks for'],
  ],
  minProperties: [
    [{ type: 'object', minProperties: 1 }, {}, 'seat must have at least one member'],
    [{ type: 'object', minProperties: 2 }, {}, 'seat must have at least 2 members'],
  ],
  maxProperties: [[{ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }, 'seat must have at most one member']],
  required: [[{ type: 'object', required: ['row'], properties: { row: {} } }, {}, 'row is required']],
  properties: [
    [{ type: 'object', properties: { row: { type: 'string' } } }, { row: 1 }, 'seat.row must be string'],
    [{ type: 'object', properties: { row: false } }, { row: 1 }, 'seat.row is not allowed here'],
  ],
  patternProperties: [
    [{ type: 'object', patternProperties: { '^r': { type: 'string' } } }, { row: 1 }, 'seat.row must be string'],
  ],
  additionalProperties: [[{ type: 'object', additionalProperties: false }, { a: 1 }, '"a" is not allowed here']],
  propertyNames: [
    [{ type: 'object', propertyNames: { maxLength: 2 } }, { row: 1 }, 'the name "row" must have at most 2 characters'],
  ],
  dependencies: [
    [{ type: 'object', dependencies: { row: ['hall'] } }, { row: 1 }, 'hall is required with row'],
    [{ type: 'object', dependencies: { row: false } }, { row: 1 }, 'seat is not allowed here'],
  ],
  not: [[{ not: { type: 'string' } }, 'A12', 'seat must not be what its schema rules out']],
  allOf: [[{ allOf: [{ type: 'string' }, { const: 'A12' }] }, 1, 'seat must be string; seat must be A12']],
  anyOf: [
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, 'seat must be string, or must be null'],
    [{ anyOf: [having('row'), having('box')] }, {}, 'row is required, or box is required'],
    [
      { anyOf: [seat({ anyOf: [{ type: 'string' }, { type: 'null' }] }), { type: 'null' }] },
      { seat: 1 },
      'seat.seat must be string, or must be null, or seat must be null',
    ],
    [
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
      [1, 'A12', 2],
      'seat.0 must be string, or must be null; seat.2 must be string, or must be null',
    ],
  ],
  oneOf: [
    [{ oneOf: kinds }, null, 'seat must be string, or must be integer, or must be number'],
    [{ oneOf: kinds }, 1, 'seat must be of only one of its kinds'],
  ],
  if: [[{ if: { const: 1 }, else: { type: 'string' } }, 3, 'seat must be string']],
}
const [silent, partsOfIf] = [
  ['$comment', 'id', '$ref'],
  ['then', 'else'],
]

describe('the problem is told by the keyword that failed', () => {
  const described = { description: 'Where somebody sits' }

  it.each(Object.entries(refusals).flatMap(([keyword, all]) => all.map((each) => [keyword, ...each] as const)))(
    '%s: %j %j',
    (_, schema, value, problem) =>
      expect(compileCheck(seat({ ...described, ...schema }))({ seat: value })).toBe(problem),
  )

  it('for every keyword that there is', () => {
    const all = Object.keys(new Ajv({ strictTypes: false }).RULES.all)
    expect(Object.keys(refusals).sort()).toEqual(all.filter((each) => ![...silent, ...partsOfIf].includes(each)).sort())
  })

  it.each<[schema: object, value: unknown]>([
    [{ type: 'string', pattern: '^[A-Z]\\d+$' }, '-'],
    [{ type: 'string', format: 'well-formed' }, '\ud800'],
    [{ type: 'string', format: 'uuid' }, '-'],
    [{ not: { type: 'string' } }, '-'],
    [{ type: 'array', contains: { const: 1 }, items: {} }, []],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1],
    [{ oneOf: kinds }, 1],
  ])("in the author's words, where the keyword alone says little: %j", (schema, value) => {
    const ruled = { ...described, ...schema, 'x-rule': 'must be a letter and a number' }
    expect(compileCheck(seat(ruled))({ seat: value })).toBe('seat must be a letter and a number')
  })

  it("not in the author's words where the keyword says it", () => {
    const ruled = { type: 'string', pattern: '^[A-Z]\\d+$', minLength: 1, 'x-rule': 'must be a letter and a number' }
    const check = compileCheck(seat(ruled))
    expect(check({ seat: 1 })).toBe('seat must be string')
    expect(check({ seat: '' })).toBe('seat must have at least one character; seat must be a letter and a number')
  })

  it('tells at most five alternatives', () => {
    const check = compileCheck({ anyOf: Array.from({ length: 9 }, (_, index) => ({ const: index })) })
    expect(check('')).toBe('the value must be 0, or must be 1, or must be 2, or must be 3, or must be 4')
  })
})

describe('formats', () => {
  const [space, offset] = ['2026-11-20 09:30:00Z', '2026-11-20T09:30:00+01']
  it.each<[format: string, accepted: readonly string[], refused: readonly string[], problem: string]>([
    ['date', ['2026-11-20', '2024-02-29'], ['2026-02-29', '20.11.2026', '2026-11-20T09:30:00Z', ''], 'a date such as '],
    [
      'date-time',
      // A log may have the last two, so they are accepted for ever.
      ['2026-11-20T09:30:00Z', '2026-11-20t09:30:00.123456789+05:30', '2026-02-30T09:30:00Z', '2026-11-20T24:00:00Z'],
      [space, offset, '2026-11-20T09:30:00+0100', '2016-12-31T23:59:60Z', '2026-13-20T09:30:00Z', '2026-11-20', ''],
      'a date and time with an offset, such as ',
    ],
    ['email', ['a.b+c@example.com'], ['a@b', '@example.com', 'a b@example.com', ''], 'an email address such as '],
    ['uuid', ['0195C2A0-7e5b-7c3d-8f21-4b6a9d0e1f23'], ['0195c2a0', '0195c2a07e5b7c3d8f214b6a9d0e1f23', ''], 'a UUID '],
    ['uri', ['https://example.com/a?b#c', 'urn:isbn:1'], ['example.com', '/a', 'https://example.com/ü', ''], 'a URI '],
    ['well-formed', ['', '\u{1F436}'], ['\ud83d'], 'well-formed Unicode'],
  ])('%s', (format, accepted, refused, problem) => {
    const check = compileCheck({ type: 'string', format })
    for (const text of accepted) expect(check(text)).toBeUndefined()
    for (const text of refused) expect(check(text)).toContain(`the value must be ${problem}`)
  })
})

describe('int64', () => {
  const check = compileCheck(Type.Object({ id: Int64Schema({ description: 'an id' }) }))
  const problem = 'id must be an integer from -9223372036854775808 to 9223372036854775807'

  it.each([0, -0, -1, 2 ** 53 - 1, -(2 ** 53 - 1), 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n)])('%s is one', (id) => {
    expect(check({ id })).toBeUndefined()
  })

  it.each([2 ** 53, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2n ** 63n, -(2n ** 63n) - 1n, '1', null, true, [1]])(
    '%s is none',
    (id) => expect(check({ id })).toBe(problem),
  )

  it('with limits of its own keeps them', () => {
    const checkSeat = compileCheck(SeatSchema)
    const seat = { ...valid, status: 'sold' }
    expect(checkSeat({ ...seat, id: 1 })).toBeUndefined()
    expect(checkSeat({ ...seat, id: Number.MAX_SAFE_INTEGER })).toBeUndefined()
    for (const id of [0, -5, 1.5, 2 ** 53, 2n ** 53n, '1']) expect(checkSeat({ ...seat, id })).toContain('id must be')
  })
})

it('a schema is compiled once, however many checks are made of it', () => {
  let reads = 0
  const schema = {
    get type() {
      reads++
      return 'string'
    },
  }
  for (const value of ['one', 'two']) expect(compileCheck(schema as never)(value)).toBeUndefined()
  expect(reads).toBe(1)
})
