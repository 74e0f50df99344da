import fc from 'fast-check'
import type { Int64 } from '../../src/engine/lib/values/int64.ts'
import { type Pet, type PetId, petStatuses } from '../../src/store/pet.ts'
import { anyCharacter } from '../lib/any-character.ts'

/** All that a pet can have: the compiler refuses a member that is left out. */
const members: { readonly [Name in keyof Pet]-?: fc.Arbitrary<NonNullable<Pet[Name]>> } = {
  id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map((id) => id as PetId),
  name: anyText(128),
  categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(toInt64),
  status: fc.constantFrom(...petStatuses),
  description: anyText(500),
}

/** Any pet that there can be. */
export const anyPet = fc.record(members, { requiredKeys: ['id', 'name', 'categoryId', 'status'] })

function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.string({ unit: anyCharacter, minLength: 1, maxLength }).filter((text) => /\S/.test(text))
}

function toInt64(value: bigint): Int64 {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
