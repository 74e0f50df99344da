import { command, Int64Schema, type Resource } from '../engine/index.ts'
import { NewPetSchema, PetChangeSchema, type PetId, PetSchema, PetStatus, petDocument, toNewPet } from './pet.ts'
import type { PetCommand } from './pet-stream.ts'

export const pets: Resource<'pet'> = {
  path: '/v1/pets',
  noun: 'pet',
  called: { one: 'animal', several: 'animals' },
  tag: { name: 'animals', description: 'The animals in the store' },
  schema: PetSchema,
  example: { id: 1, name: 'Rex', categoryId: 7, status: 'available' },
  filters: {
    status: PetStatus,
    categoryId: Int64Schema({
      description: 'Identifier of the category that the animals belong to (beta)',
      examples: [7],
      'x-stability': 'beta',
    }),
  },
  together: [['categoryId', 'status']],
  count: {
    path: '/v1/store/inventory',
    by: 'status',
    operationId: 'getInventory',
    summary: 'Count the animals by status (beta)',
    description: 'How many animals there are by status; with `categoryId`, of that category alone. As exact as a list.',
    isBeta: true,
  },
  list: {
    operationId: 'listPets',
    summary: 'List all animals',
    description:
      'Pets in ascending order of id, page by page. `Link` has the address of the next page, if there is one.',
  },
  find: {
    operationId: 'getPet',
    summary: 'Get an animal',
    description:
      'Will be removed on 5 December 2030, in favour of `GET /pets` with the `status` filter, which finds one pet too, by ' +
      '`?id=1` (beta). Until the removal, `Location` leads here.',
    deprecated: '2026-11-20',
    sunset: '2030-12-05',
  },
  history: {
    operationId: 'listPetEvents',
    summary: 'List the events of a pet (beta)',
    description:
      'The events of a pet that took effect, oldest first, page by page: as long as there is a next page, its address ' +
      'is in `Link`.',
  },
}

export const createPet = command({
  method: 'POST',
  path: '/v1/pets',
  scope: 'write',
  texts: {
    operationId: 'createPet',
    summary: 'Add an animal',
    description:
      'The pet is durable when this is answered. Without `status` it is `available`. With an `Idempotency-Key` the ' +
      'request can be repeated any number of times, and adds one pet, which is there when it is answered. Without one ' +
      'and with `Read-Model-Applied: ?0`, after `Prefer: wait=0` for example, its event is durable and its outcome is not known ' +
      'yet: the pet will be there, unless another program wrote under its id first.',
    answer: 'Animal added; the body carries the assigned `id`',
  },
  body: NewPetSchema,
  on: 'new',
  creates: 'pets',
  rejects: {},
  command: ({ id, body }): PetCommand => ({ type: 'createPet', id: id as PetId, newPet: toNewPet(body) }),
  key: {
    text: 'get the pet of the first',
    scope: () => [],
    content(body) {
      const { name, categoryId, status, description } = toNewPet(body)
      return [name, String(categoryId), status, ...(description === undefined ? [] : [description])]
    },
    again: ({ id }, body) => petDocument({ id: id as PetId, ...toNewPet(body) }),
  },
})

export const updatePet = command({
  method: 'PATCH',
  path: '/v1/pets/:petId',
  scope: 'write',
  texts: {
    operationId: 'updatePet',
    summary: 'Change an animal (beta)',
    description:
      'Changes the name, the category and the description, as a JSON merge patch (RFC 7396) does, also while an order is ' +
      'open: `null` removes the description. A pet that is so already stays as it is, whatever `If-Match` says; only a key with the scope `read` is shown it, any ' +
      'other gets 403. The status cannot be changed here: it changes with the orders of the pet.',
    answer: 'The animal as it is now',
    isBeta: true,
  },
  body: PetChangeSchema,
  on: { document: 'pets' },
  rejects: {},
  command: ({ id, body }): PetCommand => ({ type: 'changePet', id: id as PetId, change: body }),
})

export const removePet = command({
  method: 'DELETE',
  path: '/v1/pets/:petId',
  scope: 'write',
  texts: {
    operationId: 'removePet',
    summary: 'Remove an animal (beta)',
    description:
      'Removes a pet for good, unless an order is open. It is found and listed no more, and cannot be ordered; its ' +
      'orders and its events can still be read, and its id never comes again. Removing it once more changes nothing, and ' +
      'is answered alike. A request that is repeated under the `Idempotency-Key` of its creation still gets the first ' +
      'answer, whose `Location` leads to nothing by then.',
    answer: 'The animal is gone',
    isBeta: true,
  },
  on: { document: 'pets' },
  rejects: { pet_is_ordered: 'Pet 1 is pending: order 11 holds it.' },
  command: ({ id }): PetCommand => ({ type: 'removePet', id: id as PetId }),
})
