import { petDocument } from '../src/domain/pet.ts'
import type { PetState } from '../src/domain/pet-stream.ts'
import type { Projection } from '../src/projector/definition.ts'

/** Every pet by id, and by id within its status. */
export const pets: Projection<PetState | undefined> = {
  name: 'pets',
  version: 5,
  documents(state) {
    if (state === undefined) return []
    const { pet, petVersion: version } = state
    return [{ collection: 'pets', id: pet.id, json: petDocument(pet), version, indexes: [`status:${pet.status}`] }]
  },
}
