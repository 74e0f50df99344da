import type { Projection } from '../src/engine/index.ts'
import { orderDocument } from '../src/store/order.ts'
import type { PetState } from '../src/store/pet-stream.ts'

/** Every order by id, and by id within its status and its pet. */
export const orders: Projection<PetState | undefined> = {
  name: 'orders',
  version: 3,
  documents(state) {
    if (state?.order === undefined) return []
    const { order } = state
    return [
      {
        collection: 'orders',
        id: order.id,
        json: orderDocument(order),
        filters: { status: order.status, petId: order.petId },
      },
    ]
  },
}
