import type { TSchema } from 'typebox'
import { valuesOf } from './filter-values.ts'

type Member = TSchema & { readonly examples?: readonly unknown[] }
type Body = TSchema & { readonly properties?: Readonly<Record<string, Member>>; readonly required?: readonly string[] }

/** The required members with their first examples, or the first of their values; undefined where there is none. */
export function exampleOf(body: TSchema): Readonly<Record<string, unknown>> {
  const { properties = {} } = body as Body
  const exampleIn = (member?: Member) => member && (member.examples?.[0] ?? valuesOf(member)[0])
  return Object.fromEntries(requiredOf(body).map((name) => [name, exampleIn(properties[name])]))
}

export function requiredOf(body: TSchema): readonly string[] {
  return (body as Body).required ?? []
}
