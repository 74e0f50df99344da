/** The door of the engine: all that a service may import. */
export { command, defineService } from './define-service.ts'
export { Rejected } from './definition/rejected.ts'
export type { CommandRoute, Deprecation, Resource, Service, ServiceCommand, Texts } from './definition/service.ts'
export type {
  AnyEvent,
  Document,
  EarlierExample,
  EarlierVersion,
  EventExample,
  EventType,
  Projection,
  Recorded,
  Stream,
} from './definition/stream.ts'
export { IdTakenError } from './lib/errors.ts'
export { exactJson, parseExactJson } from './lib/exact-json.ts'
export { type Int64, Int64Schema } from './lib/int64.ts'
export type { Program } from './program.ts'
