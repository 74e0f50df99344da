import type { Static, TSchema } from 'typebox'
import type { CloudEvent } from '../event-log/record-codec.ts'
import { compileCheck } from '../lib/validation.ts'

/** What an event says: its type, which ends in its version, and its data. */
export type Said = Pick<CloudEvent, 'type' | 'data'>

/** Says in the next version what data of an earlier one say; or, as text, what is wrong with them. Pure. */
export type Upcaster = (data: unknown) => Said | string

/** `schema`: of the data, as the earlier version was published. */
export function upcaster<Schema extends TSchema>(schema: Schema, next: (data: Static<Schema>) => Said): Upcaster {
  const check = compileCheck(schema)
  return (data) => check(data) ?? next(data as Static<Schema>)
}
