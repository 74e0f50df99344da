import { command, exactJson, type Resource } from '../engine/index.ts'
import { CategoryChangeSchema, type CategoryId, CategorySchema, NewCategorySchema, toCategory } from './category.ts'
import type { CategoryCommand } from './category-stream.ts'

/** Categories of pets, in beta (docs/releases.md). */
export const categories: Resource<'category'> = {
  path: '/v1/categories',
  noun: 'category',
  called: { one: 'category', several: 'categories' },
  tag: { name: 'categories', description: 'What kinds of animals there are (beta)' },
  isBeta: true,
  schema: CategorySchema,
  example: { id: 3, name: 'Dogs', description: 'They like walks' },
  list: {
    operationId: 'listCategories',
    summary: 'List all categories (beta)',
    description:
      'Categories in ascending order of id, page by page. `Link` has the address of the next page, if there is one. ' +
      'The `categoryId` of an animal need not be one of them.',
  },
  find: {
    operationId: 'getCategory',
    summary: 'Get a category (beta)',
    description:
      'The category as it is now. `ETag` names this state: a change with it in `If-Match` applies to no other one.',
  },
  history: {
    operationId: 'listCategoryEvents',
    summary: 'List the events of a category (beta)',
    description:
      'The events of a category that took effect, oldest first, page by page: as long as there is a next page, its ' +
      'address is in `Link`.',
  },
}

export const createCategory = command({
  method: 'POST',
  path: '/v1/categories',
  scope: 'write',
  texts: {
    operationId: 'createCategory',
    summary: 'Add a category (beta)',
    description:
      'The category is durable when this is answered. With an `Idempotency-Key` the request can be repeated any number ' +
      'of times, and adds one category.',
    answer: 'Category added; the body carries the assigned `id`',
  },
  body: NewCategorySchema,
  on: 'new',
  creates: 'categories',
  rejects: {},
  command: ({ id, body }): CategoryCommand => ({ type: 'createCategory', id: id as CategoryId, newCategory: body }),
  key: {
    text: 'get the category of the first',
    content: ({ name, description }) => [name, ...(description === undefined ? [] : [description])],
    again: ({ id }, body) => exactJson(toCategory(id as CategoryId, body)),
  },
})

export const updateCategory = command({
  method: 'PATCH',
  path: '/v1/categories/:categoryId',
  scope: 'write',
  texts: {
    operationId: 'updateCategory',
    summary: 'Change a category (beta)',
    description:
      'Changes the name and the description, as a JSON merge patch (RFC 7396) does: `null` removes the description. A ' +
      'category that is so already stays as it is, whatever `If-Match` says; only a key with the scope `read` is shown ' +
      'it, any other gets 403.',
    answer: 'The category as it is now',
  },
  body: CategoryChangeSchema,
  on: { document: 'categories' },
  rejects: {},
  command: ({ id, body }): CategoryCommand => ({ type: 'changeCategory', id: id as CategoryId, change: body }),
})

export const removeCategory = command({
  method: 'DELETE',
  path: '/v1/categories/:categoryId',
  scope: 'write',
  texts: {
    operationId: 'removeCategory',
    summary: 'Remove a category (beta)',
    description:
      'Removes a category for good: it is found and listed no more, its events can still be read, and its id never ' +
      'comes again. Animals of it stay as they are, and keep its id as their `categoryId`. Removing it once more ' +
      'changes nothing, and is answered alike.',
    answer: 'The category is gone',
  },
  on: { document: 'categories' },
  rejects: {},
  command: ({ id }): CategoryCommand => ({ type: 'removeCategory', id: id as CategoryId }),
})
