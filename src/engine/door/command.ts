import type { Static, TSchema } from 'typebox'
import type { Int64 } from '../lib/values/int64.ts'

/** What documents say of an operation. */
export interface Texts {
  readonly operationId: string
  readonly summary: string
  /** Where the summary does not say all. */
  readonly description?: string
  /** What the answer has, where the engine's words do not fit. */
  readonly answer?: string
  /** Whether the operation may still change; says so in the documents. */
  readonly isBeta?: true
}

export interface Deprecation {
  /** Since when: a date, RFC 3339 (RFC 9745). */
  readonly deprecated?: string
  /** When it will be removed: a date, RFC 3339 (RFC 8594). */
  readonly sunset?: string
}

/** Never set: the compiler compares codes by it, as an object may have more members than its type names. */
declare const namedCodes: unique symbol

/** A route of a command. It names collections and errors of its service, and no others. */
export interface CommandRoute<
  Command,
  Body extends TSchema = TSchema,
  Collection extends string = string,
  Code extends string = string,
> {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** Under /v1; a document is named by its last part, as `:bookId`. */
  readonly path: string
  readonly scope: string
  readonly texts: Texts
  readonly body?: Body
  /** Its stream: a new one; that of the document which the path names; or as the body says. */
  readonly on: 'new' | { readonly document: Collection } | { stream(body: Static<Body>): Int64 }
  /** The collection of the document that it creates: its id is drawn, the answer is 201 with Location. */
  readonly creates?: Collection
  /** The errors that it may be refused with, with an example of their message. */
  readonly rejects: Readonly<Record<string, string>> & { readonly [namedCodes]?: Code }
  /** `id`: drawn, or the path's. `time`: what the event will carry, RFC 3339, UTC. */
  command(asked: { readonly id: number; readonly time: string; readonly body: Static<Body> }): Command
  /** Undefined: Idempotency-Key is ignored. */
  readonly key?: {
    /** What documents say that all requests under one key do. */
    readonly text: string
    /** Behind the owner of the API key and the key; by default the operation and the stream. The log keeps it for ever. */
    scope?(body: Static<Body>): readonly string[]
    /** What makes requests under one key the same. The log keeps it for ever. */
    content(body: Static<Body>): readonly string[]
    /** The first answer, from what is stored under the key. */
    again(made: { readonly id: number; readonly time: string }, body: Static<Body>): string
  }
}
