/** The door of the engine: all that a service may import. */
import './node-version.cjs'

export { command, defineService, stream } from './define-service.ts'
export type { CommandRoute, Deprecation, Texts } from './door/command.ts'
export { Rejected } from './door/rejected.ts'
export type { Resource, Service, ServiceCommand } from './door/service.ts'
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
} from './door/stream.ts'
export { IdTakenError } from './lib/errors/errors.ts'
export { exactJson, parseExactJson } from './lib/values/exact-json.ts'
export { type Int64, Int64Schema } from './lib/values/int64.ts'
export type { Program } from './program.ts'
