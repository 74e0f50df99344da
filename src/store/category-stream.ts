import { Rejected, type Stream } from '../engine/index.ts'
import { type Category, type CategoryChange, type CategoryId, type NewCategory, toCategory } from './category.ts'
import type { CategoryEvent } from './category-events.ts'

/** A category, and whether it is gone for good; undefined if there never was one. */
export type CategoryState = (Category & { readonly isRemoved?: true }) | undefined

export type CategoryCommand =
  | { readonly type: 'createCategory'; readonly id: CategoryId; readonly newCategory: NewCategory }
  | { readonly type: 'changeCategory'; readonly id: CategoryId; readonly change: CategoryChange }
  | { readonly type: 'removeCategory'; readonly id: CategoryId }

type CategoryStream = Stream<CategoryState, CategoryCommand, CategoryEvent, 'category_not_found' | 'conflict'>

export const decide: CategoryStream['decide'] = (command, state) => {
  const { id } = command
  if (command.type === 'createCategory') {
    if (state !== undefined) return new Rejected('conflict', `Category ${id} exists already.`)
    return { type: 'CategoryAdded', ...toCategory(id, command.newCategory) }
  }
  if (command.type === 'removeCategory' && state?.isRemoved) return 'unchanged'
  if (state === undefined || state.isRemoved) return new Rejected('category_not_found', `There is no category ${id}.`)
  if (command.type === 'removeCategory') return { type: 'CategoryRemoved', categoryId: id }
  const changed = toCategory(id, { ...state, ...command.change })
  if (changed.name === state.name && changed.description === state.description) return 'unchanged'
  return { type: 'CategoryChanged', ...changed }
}

export const evolve: CategoryStream['evolve'] = (state, { event }) => {
  if (event.type === 'CategoryAdded') {
    if (state !== undefined) throw new Error(`category ${event.id} exists already`)
    return toCategory(event.id, event)
  }
  const id = event.type === 'CategoryChanged' ? event.id : event.categoryId
  if (state === undefined) throw new Error(`there is no category ${id}`)
  if (id !== state.id) throw new Error(`the event is about category ${id}`)
  if (state.isRemoved) throw new Error(`category ${id} is removed`)
  return event.type === 'CategoryChanged' ? toCategory(id, event) : { ...state, isRemoved: true }
}
