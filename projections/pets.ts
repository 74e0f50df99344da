import { petDocument, WrittenPet } from '../src/domain/pet.ts'
import { decodePetEvent, type PetEvent } from '../src/domain/pet-created.ts'
import { statusIndex } from '../src/domain/read-pets.ts'
import type { ReadModelDefinition } from '../src/projector/definition.ts'
import { petCounts } from './pet-counts.ts'

/** Every pet by id, and by id within its status. */
export const pets: ReadModelDefinition<PetEvent> = {
  decode: decodePetEvent,
  readData: (text) => WrittenPet.in(text),
  projection: {
    name: 'pets',
    version: 2,
    change: ({ pet }) => ({ id: pet.id, document: petDocument(pet), indexes: [statusIndex(pet.status)] }),
  },
  countings: [petCounts],
}
