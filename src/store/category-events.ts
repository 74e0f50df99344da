import { Type } from 'typebox'
import type { Stream } from '../engine/index.ts'
import { type Category, type CategoryId, CategoryIdSchema, CategorySchema, toCategory } from './category.ts'

/** A category was added to the store. */
export interface CategoryAdded extends Category {
  readonly type: 'CategoryAdded'
}

/** Its name or its description was changed; this is all of it after that. */
export interface CategoryChanged extends Category {
  readonly type: 'CategoryChanged'
}

/** A category has left the store for good. Pets of it stay as they are. */
export interface CategoryRemoved {
  readonly type: 'CategoryRemoved'
  readonly categoryId: CategoryId
}

/** Everything that can happen to a category: the events of its stream. */
export type CategoryEvent = CategoryAdded | CategoryChanged | CategoryRemoved

const CategoryRemovedData = Type.Object(
  { categoryId: CategoryIdSchema },
  { title: 'CategoryRemovedData', description: 'Which category' },
)

const id = 7 as CategoryId
const dogs = toCategory(id, { name: 'Dogs' })
const described = toCategory(id, { name: 'Dogs', description: 'They like walks' })
const added = { stream: id, version: 1 }
const asAdded = { type: 'CategoryAdded', ...dogs } as const

export const categoryEvents: Stream<unknown, unknown, CategoryEvent>['events'] = {
  CategoryAdded: {
    version: 1,
    description: 'A category was added to the store',
    data: CategorySchema,
    examples: [
      { name: 'categoryAdded', summary: 'Category 7 was added', ...added, event: asAdded },
      {
        name: 'categoryAddedOnce',
        summary: 'The same, under an Idempotency-Key and in a trace',
        ...added,
        event: asAdded,
        isKeyed: true,
      },
    ],
  },
  CategoryChanged: {
    version: 1,
    description: 'The name or the description of a category was changed; this is all of the category after it',
    data: CategorySchema,
    examples: [
      {
        name: 'categoryChanged',
        summary: 'Category 7 has a description from now on',
        stream: id,
        version: 2,
        event: { type: 'CategoryChanged', ...described },
      },
    ],
  },
  CategoryRemoved: {
    version: 1,
    description: 'A category has left the store; its id never comes again, and pets of it stay as they are',
    data: CategoryRemovedData,
    examples: [
      {
        name: 'categoryRemoved',
        summary: 'Category 7 is gone',
        stream: id,
        version: 3,
        event: { type: 'CategoryRemoved', categoryId: id },
      },
    ],
  },
}
