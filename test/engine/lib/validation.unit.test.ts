import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { Int64Schema } from '../../../src/engine/lib/int64.ts'
import { compileCheck } from '../../../src/engine/lib/validation.ts'
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

  it.each([
    [{ description: 'a word' }, 'the value must be a word'],
    [{}, 'the value must match pattern "^\\w+$"'],
  ])('says what a text must be, by its description if it has one: %j', (described, problem) => {
    expect(compileCheck({ type: 'string', pattern: '^\\w+$', ...described })('')).toBe(problem)
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
    [{ type: 'string', format: 'well-frmed' }, /unknown format/],
  ])('a schema that is none is refused when it is first used: %j', (schema, problem) => {
    expect(() => compileCheck(schema)('')).toThrow(problem)
  })

  it('names a field inside another', () => {
    const nested = compileCheck(Type.Object({ seats: Type.Array(Type.Object({ name: Type.String() })) }))
    expect(nested({ seats: [{ name: 'A12' }, { name: 1 }] })).toBe('seats.1.name must be string')
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
