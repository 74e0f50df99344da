import { type Static, Type } from 'typebox'
import { IdSchema } from './pet.ts'
import { descriptionSchemas, nameSchema } from './texts.ts'

const name = nameSchema('Dogs')
const description = descriptionSchemas(1000, 'What else there is to say', 'They like walks')

export const NewCategorySchema = Type.Object(
  { name, description: Type.Optional(description.given) },
  { title: 'CategoryInput', additionalProperties: false, description: 'A category to add' },
)

export const CategoryChangeSchema = Type.Object(
  { name: Type.Optional(name), description: Type.Optional(description.changed) },
  {
    title: 'CategoryChange',
    additionalProperties: false,
    minProperties: 1,
    'x-not-allowed': { id: 'it never changes' },
    description: 'A change of a category: its name, its description',
    examples: [{ name: 'Puppies' }],
  },
)

export const CategoryIdSchema = IdSchema({
  description: 'Unique identifier assigned by the service on creation',
  examples: [3],
})

export const CategorySchema = Type.Object(
  { id: CategoryIdSchema, name, description: Type.Optional(description.shown) },
  { title: 'Category', additionalProperties: false, description: 'A category of animals' },
)

export type CategoryId = number & { readonly brand: 'CategoryId' }
export type NewCategory = Readonly<Static<typeof NewCategorySchema>>
/** Members that are left out stay as they are. Null removes the description. */
export type CategoryChange = Readonly<Static<typeof CategoryChangeSchema>>

export interface Category extends NewCategory {
  readonly id: CategoryId
}

/** Its members in the order in which events, read models and answers have them. Null is no description. */
export function toCategory(id: CategoryId, { name, description }: { name: string; description?: string | null }) {
  return { id, name, ...(typeof description === 'string' && { description }) } satisfies Category
}
