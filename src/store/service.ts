import { orders as ordersShown } from '../../projections/orders.ts'
import { pets as petsShown } from '../../projections/pets.ts'
import { defineService, stream } from '../engine/index.ts'
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

export const store = defineService({
  name: 'petstore',
  title: 'Petstore Animals',
  version: '1.0.0',
  description:
    'A pet store: list its pets, add one, read one; in beta, change and remove them, order them, and follow their events.',
  streams: [petStream],
  resources: { pets, orders },
  errors,
  cli: [seed],
})
