import type { Projection } from '../src/engine/index.ts'
import { petDocument } from '../src/store/pet.ts'
import type { PetState } from '../src/store/pet-stream.ts'

/** Every pet that is not removed by id, and by id within its status and its category. */
export const pets: Projection<PetState | undefined> = {
  name: 'pets',
  version: 8,
  documents(state) {
    if (state === undefined) return []
    const { pet, isRemoved } = state
    const json = isRemoved ? null : petDocument(pet)
    return [{ collection: 'pets', id: pet.id, json, filters: { status: pet.status, categoryId: pet.categoryId } }]
  },
}
