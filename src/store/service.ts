import { categories as categoriesShown } from '../../projections/categories.ts'
import { orders as ordersShown } from '../../projections/orders.ts'
import { pets as petsShown } from '../../projections/pets.ts'
import { defineService, stream } from '../engine/index.ts'
import { categories, createCategory, removeCategory, updateCategory } from './categories.ts'
import { categoryEvents } from './category-events.ts'
import * as category from './category-stream.ts'
import { errors } from './errors.ts'
import { petEvents } from './events.ts'
import { orders, placeOrder, updateOrder } from './orders.ts'
import { decide, evolve, petState } from './pet-stream.ts'
import { createPet, pets, removePet, updatePet } from './pets.ts'
import { seed } from './seed.ts'

/** A pet and its orders are one stream, because the rule that must hold is one open order per pet. */
export const petStream = stream({
  collection: 'pets',
  source: '/v1/pets',
  initial: undefined,
  decide,
  evolve,
  events: petEvents,
  projections: [petsShown, ordersShown],
  state: petState,
  commands: [createPet, updatePet, removePet, placeOrder, updateOrder],
})

/** A category is a stream of its own: no rule is about it and its pets, which may name any. */
export const categoryStream = stream({
  collection: 'categories',
  source: '/v1/categories',
  initial: undefined,
  decide: category.decide,
  evolve: category.evolve,
  events: categoryEvents,
  projections: [categoriesShown],
  commands: [createCategory, updateCategory, removeCategory],
})

export const store = defineService({
  name: 'petstore',
  title: 'Petstore Animals',
  version: '1.0.0',
  description:
    'A pet store: list its pets, add one, read one; in beta, change and remove them, order them, say what their categories ' +
    'are, and follow their events.',
  streams: [petStream, categoryStream],
  resources: { pets, orders, categories },
  errors,
  cli: [seed],
})
