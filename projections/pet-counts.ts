import type { PetEvent } from '../src/domain/pet-created.ts'
import type { Counting } from '../src/projector/definition.ts'

/** How many pets there are by status and by category. */
export const petCounts: Counting<PetEvent> = {
  name: 'pet-counts',
  version: 1,
  by: { status: ({ pet }) => pet.status, category: ({ pet }) => pet.categoryId },
}
