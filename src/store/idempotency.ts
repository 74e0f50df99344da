import { type Idempotency, idempotency } from '../engine/commands/idempotency.ts'
import type { NewPet, PetId } from './pet.ts'

// The log keeps these hashes forever. If they changed, a request repeated after an upgrade would count as a new one.

export function createPetIdempotency(
  apiKeyOwner: string,
  idempotencyKey: string,
  { name, categoryId, status }: NewPet,
): Idempotency {
  return idempotency([apiKeyOwner, idempotencyKey], [name, String(categoryId), status])
}

/** The same key used for two pets is two requests. */
export function placeOrderIdempotency(apiKeyOwner: string, idempotencyKey: string, petId: PetId): Idempotency {
  return idempotency([apiKeyOwner, idempotencyKey, 'placeOrder', String(petId)], [String(petId)])
}
