import type { TSchema } from 'typebox'
import { type Definition, define } from '../../src/engine/definition/definition.ts'
import type { EventContext } from '../../src/engine/definition/event-codec.ts'
import { type Kind, kindOrFirst, type StreamDefinition } from '../../src/engine/definition/kinds.ts'
import type { NewRecord } from '../../src/engine/log/event-log.ts'
import type { CategoryEvent } from '../../src/store/category-events.ts'
import type { PetEvent } from '../../src/store/events.ts'
import { petDocument } from '../../src/store/pet.ts'
import type { PetCommand, PetState } from '../../src/store/pet-stream.ts'
import { store } from '../../src/store/service.ts'

/** The pet store, as the engine has it. */
const definition = define(store.service)
export const petstore = { ...definition, ...definition.kinds[0] } as unknown as Definition &
  Omit<Kind, keyof StreamDefinition> &
  StreamDefinition<PetState | undefined, PetCommand, PetEvent>

/** The schemas of its events by their types. */
export const eventSchemas: Readonly<Record<string, TSchema>> = Object.fromEntries(
  petstore.schemas.map(({ type, schema }) => [type, schema]),
)

export function schemaOf(type: string): TSchema {
  const schema = eventSchemas[type]
  if (schema === undefined) throw new Error(`there is no schema of ${type}`)
  return schema
}

/** Any event of it. */
export type StoreEvent = PetEvent | CategoryEvent

export function encodeEvent(event: StoreEvent, context: Omit<EventContext, 'stream'>): NewRecord {
  const stream = streamOf(event)
  return kindOrFirst(petstore, stream).events.encode([event], { stream, ...context })
}

function streamOf(event: StoreEvent): string {
  if ('pet' in event) return String(event.pet.id)
  if ('petId' in event) return String(event.petId)
  return `categories/${'categoryId' in event ? event.categoryId : event.id}`
}

/** What is stored of a state besides the document of the pet. */
export function hiddenOf(state: PetState | undefined): string {
  return petstore.codec.hidden(state, state && !state.isRemoved ? petDocument(state.pet) : undefined)
}
