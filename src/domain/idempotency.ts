import { type Idempotency, idempotency } from '../command-handling/idempotency.ts'
import type { NewPet, PetId } from './pet.ts'

// The log keeps these hashes for ever: with other ones, a request that is sent again after an upgrade would be a new one.

export function createPetIdempotency(
  apiKeyOwner: string,
  idempotencyKey: string,
  { name, categoryId, status }: NewPet,
): Idempotency {
  return idempotency([apiKeyOwner, idempotencyKey], [name, String(categoryId), status])
}

/** One key used for two pets is two requests. */
export function placeOrderIdempotency(apiKeyOwner: string, idempotencyKey: string, petId: PetId): Idempotency {
  return idempotency([apiKeyOwner, idempotencyKey, 'placeOrder', String(petId)], [String(petId)])
}
