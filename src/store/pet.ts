import { type Static, Type } from 'typebox'
import { type Int64, Int64Schema } from '../engine/index.ts'
import { descriptionSchemas, nameSchema } from './texts.ts'

/** An id that the service assigns: 1..2^53 - 1, so that every JavaScript client reads it exactly. */
export const IdSchema = (options: { description: string; examples?: unknown[] }) =>
  Type.Integer({ format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...options })

export const petStatuses = ['available', 'pending', 'sold'] as const
export const PetStatus = Type.Enum(petStatuses, {
  type: 'string',
  title: 'PetStatus',
  description: 'Availability of the animal',
})
export type PetStatus = (typeof petStatuses)[number]

const name = nameSchema('Rex')
const description = descriptionSchemas(500, 'What else there is to say (beta)', 'Likes children')
const categoryId = Int64Schema({ description: 'Identifier of the category the animal belongs to', examples: [7] })

export const NewPetSchema = Type.Object(
  {
    name,
    categoryId,
    status: Type.Optional(PetStatus),
    description: Type.Optional(description.given),
  },
  { title: 'PetInput', additionalProperties: false, description: 'An animal to add' },
)

export const PetChangeSchema = Type.Object(
  {
    name: Type.Optional(name),
    categoryId: Type.Optional(categoryId),
    description: Type.Optional(description.changed),
  },
  {
    title: 'PetChange',
    additionalProperties: false,
    minProperties: 1,
    'x-not-allowed': { status: 'it changes with the orders of the pet', id: 'it never changes' },
    description: 'A change of an animal: its name, its category, its description. Its status changes with its orders',
    examples: [{ name: 'Max' }],
  },
)

export const PetIdSchema = IdSchema({
  description: 'Unique identifier assigned by the service on creation',
  examples: [1],
})

const common = { id: PetIdSchema, name, categoryId, status: PetStatus }

export const PetSchema = Type.Object(
  { ...common, description: Type.Optional(description.shown) },
  { title: 'Pet', additionalProperties: false, description: 'An animal' },
)

/** A pet without a description, as the first version of an event has it. */
export const PetV1Schema = Type.Object(common, {
  title: 'PetV1',
  additionalProperties: false,
  description: 'An animal without a description',
})

export type PetId = number & { readonly brand: 'PetId' }

export interface NewPet {
  readonly name: string
  readonly categoryId: Int64
  readonly status: PetStatus
  readonly description?: string
}

/** What of a pet can be changed; members that are left out stay as they are. Null removes the description. */
export type PetChange = Partial<Pick<NewPet, 'name' | 'categoryId'>> & { readonly description?: string | null }

export interface Pet extends NewPet {
  readonly id: PetId
}

/** A value that the NewPet schema accepted. An omitted status is `available` (decision 0012). */
export function toNewPet(value: Static<typeof NewPetSchema>): NewPet {
  return { ...value, status: value.status ?? 'available' }
}

/** The pet as JSON text: the only function that writes it, for events, read models and answers. */
export function petDocument({ id, name, categoryId, status, description: text }: Pet): string {
  const more = text === undefined ? '' : `,"description":${JSON.stringify(text)}`
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"${more}}`
}
