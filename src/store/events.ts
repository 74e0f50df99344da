import type { OrderId } from './order.ts'
import type { Pet, PetId } from './pet.ts'

/** A pet was added to the store. */
export interface PetCreated {
  readonly type: 'PetCreated'
  readonly pet: Pet
}

/** The order of a pet has changed. */
export interface OrderEvent {
  readonly type: 'OrderPlaced' | 'OrderApproved' | 'OrderDelivered' | 'OrderCancelled'
  readonly orderId: OrderId
  readonly petId: PetId
}

/** Everything that can happen to a pet: the events of its stream. */
export type PetEvent = PetCreated | OrderEvent
