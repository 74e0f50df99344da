import type { Static, TSchema } from 'typebox'
import type { CloudEvent } from '../engine/log/record-codec.ts'
import { compileCheck } from '../engine/lib/validation.ts'

/** What an event says: its type, which ends in its version, and its data. */
export type TypedData = Pick<CloudEvent, 'type' | 'data'>

/** Converts the data of one version to the next. Returns a text if they are invalid. Pure. */
export type Upcaster = (data: unknown) => TypedData | string

/** `schema`: of the data, as the earlier version was published. */
export function upcaster<Schema extends TSchema>(schema: Schema, next: (data: Static<Schema>) => TypedData): Upcaster {
  const check = compileCheck(schema)
  return (data) => check(data) ?? next(data as Static<Schema>)
}
