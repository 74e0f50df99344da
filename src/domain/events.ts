import type { OrderId } from './order.ts'
import type { Pet, PetId } from './pet.ts'

/** A pet was added to the store. */
export interface PetCreated {
  readonly type: 'PetCreated'
  readonly pet: Pet
}

/** Something became of an order of a pet. */
export interface OrderEvent {
  readonly type: 'OrderPlaced' | 'OrderApproved' | 'OrderDelivered' | 'OrderCancelled'
  readonly orderId: OrderId
  readonly petId: PetId
}

/** Everything that can happen to a pet: the events of its stream. */
export type PetEvent = PetCreated | OrderEvent
