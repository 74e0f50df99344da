import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { exampleOf } from '../../../src/engine/definition/body-example.ts'

it('an example of a body has its required members, and of an enumeration the first value', () => {
  const body = Type.Object({
    level: Type.Enum(['P1', 'P2'], { type: 'string' }),
    plate: Type.String({ examples: ['B123', 'B124'] }),
    days: Type.Integer(),
    note: Type.Optional(Type.String({ examples: ['A van'] })),
  })
  expect(exampleOf(body)).toEqual({ level: 'P1', plate: 'B123', days: undefined })
})
