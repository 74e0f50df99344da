import { type Static, Type } from 'typebox'
import type { Int64 } from '../int64.ts'

/** An exact int64, published as OpenAPI's integer/int64. */
export const Int64Schema = (options: { description: string; examples?: unknown[] }) =>
  Type.Unsafe<Int64>({ type: 'integer', format: 'int64', ...options })

export const PetStatus = Type.Enum(['available', 'pending', 'sold'], {
  type: 'string',
  description: 'Availability of the animal',
})
export type PetStatus = Static<typeof PetStatus>
export const petStatuses: readonly PetStatus[] = ['available', 'pending', 'sold']

const name = Type.String({
  minLength: 1,
  maxLength: 128, // counted in code points, as JSON Schema says
  pattern: '\\S',
  format: 'well-formed',
  description: '1 to 128 characters of well-formed Unicode, not only white space',
  examples: ['Rex'],
})
const categoryId = Int64Schema({ description: 'Identifier of the category the animal belongs to', examples: [7] })

export const NewPetSchema = Type.Object(
  { name, categoryId, status: Type.Optional(PetStatus) },
  { additionalProperties: false, description: 'An animal to add' },
)

export const PetSchema = Type.Object(
  {
    id: Type.Integer({
      format: 'int64',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Unique identifier assigned by the service on creation',
      examples: [1],
    }),
    name,
    categoryId,
    status: PetStatus,
  },
  { additionalProperties: false, description: 'An animal' },
)

/** Assigned by the service: 1..2^53 - 1, so that every JavaScript client reads it exactly. */
export type PetId = number & { readonly brand: 'PetId' }

export interface NewPet {
  readonly name: string
  readonly categoryId: Int64
  readonly status: PetStatus
}

export interface Pet extends NewPet {
  readonly id: PetId
}

/** A value that the NewPet schema accepted. An omitted status is `available` (design section 3). */
export function toNewPet(value: Static<typeof NewPetSchema>): NewPet {
  return { name: value.name, categoryId: value.categoryId, status: value.status ?? 'available' }
}

/** The pet as JSON text: the one way it is written, in events, in read models and in answers. */
export function petDocument({ id, name, categoryId, status }: Pet): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`
}

// No quote, backslash or control character in the name, and no number that could be rounded.
const plainDocument =
  /^\{"id":([1-9]\d{0,14}),"name":"([ !#-[\]-\uffff]*)","categoryId":(0|-?[1-9]\d{0,14}),"status":"(\w+)"\}$/

/**
 * What JSON says of a text in the form of `petDocument`, but quicker; undefined where it would take more to tell. Whether it
 * is a pet is not looked at.
 */
export function readPetDocument(text: string): unknown {
  const match = plainDocument.exec(text)
  if (match === null) return undefined
  const [, id, name, categoryId, status] = match
  return { id: Number(id), name, categoryId: Number(categoryId), status }
}

/**
 * The documents in a list of them, separated by commas. Within a document no text looks like the beginning of one:
 * quotes in a name are escaped.
 */
export function petsIn(documents: string): { readonly id: number; readonly document: string }[] {
  if (documents === '') return []
  return documents.split(/,(?=\{"id":)/).map((document) => ({ id: Number.parseInt(document.slice(6), 10), document }))
}
