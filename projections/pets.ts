import type { Projection } from '../src/engine/index.ts'
import { petDocument } from '../src/store/pet.ts'
import type { PetState } from '../src/store/pet-stream.ts'

/** Every pet by id, and by id within its status. */
export const pets: Projection<PetState | undefined> = {
  name: 'pets',
  version: 6,
  documents(state) {
    if (state === undefined) return []
    const { pet } = state
    return [{ collection: 'pets', id: pet.id, json: petDocument(pet), filters: { status: pet.status } }]
  },
}
