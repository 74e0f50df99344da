import type { TSchema } from 'typebox'

/** The values of a filter; none where it is no enumeration of texts. */
export function valuesOf(filter: TSchema): readonly string[] {
  const { enum: values = [] } = filter as { enum?: readonly unknown[] }
  return values.every((value) => typeof value === 'string' && /^[\w-]+$/.test(value))
    ? (values as readonly string[])
    : []
}
