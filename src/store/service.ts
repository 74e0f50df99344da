import { orders } from '../../projections/orders.ts'
import { pets } from '../../projections/pets.ts'
import { decodeEvent, encodeEvent, streamVersion } from './event-codec.ts'
import type { PetEvent } from './events.ts'
import { WrittenPet } from './pet.ts'
import { type PetState, petDecider, petStateCodec } from './pet-stream.ts'
import type { StreamDefinition } from '../engine/projector/definition.ts'

/** The store: the only place that tells the generic parts about pets and orders. */
export const petStreams: StreamDefinition<PetState | undefined, PetEvent> = {
  decode: decodeEvent,
  readData: (text) => WrittenPet.in(text),
  streamVersion,
  initialState: petDecider.initialState,
  evolve: petDecider.evolve,
  codec: petStateCodec,
  projections: [pets, orders],
  home: 'pets',
}

/** How a command handler stores and writes the same streams. */
export const petKind = { codec: petStateCodec, encode: encodeEvent }
