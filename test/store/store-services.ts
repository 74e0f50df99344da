import type { NewPet, PetId } from '../../src/store/pet.ts'
import { type Served, TestServices, testServer } from '../engine/http/test-services.ts'
import { petstore } from './petstore.ts'

const pets: Served<NewPet> = {
  definition: petstore,
  added: (id, pet) => ({ type: 'PetCreated', pet: { id: id as PetId, ...pet } }),
}

export const storeServices = () => new TestServices(pets)

/** A server of the store for the tests of a file. */
export const storeServer = () => testServer(pets)
