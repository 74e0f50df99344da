import { petDocument } from '../src/store/pet.ts'
import type { PetState } from '../src/store/pet-stream.ts'
import type { Projection } from '../src/engine/projector/definition.ts'

/** Every pet by id, and by id within its status. */
export const pets: Projection<PetState | undefined> = {
  name: 'pets',
  version: 6,
  documents(state) {
    if (state === undefined) return []
    const { pet } = state
    return [{ collection: 'pets', id: pet.id, json: petDocument(pet), indexes: [`status:${pet.status}`] }]
  },
}
