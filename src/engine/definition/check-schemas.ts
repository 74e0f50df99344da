import type { TSchema } from 'typebox'
import { messageOf } from '../lib/errors/errors.ts'
import { compileCheck } from '../lib/values/validation.ts'

/** Whether values can be checked by the schema. Returns the problem that it has with this one. */
export function* schemaIn(place: string, schema: TSchema, value: unknown = {}): Generator<string, string | undefined> {
  return yield* madeIn(place, () => compileCheck(schema)(value))
}

/** What is made; undefined, and a problem, where that throws. */
export function* madeIn<Made>(place: string, make: () => Made): Generator<string, Made | undefined> {
  try {
    return make()
  } catch (error) {
    yield `${place}: ${messageOf(error)}`
    return undefined
  }
}
