import type { FastifyReply } from 'fastify'
import type { Handled } from '../command-handling/command-handler.ts'
import type { PetState } from '../domain/pet-stream.ts'
import type { AtLeast } from '../read-models/read-model.ts'
import { addToken } from './consistency.ts'
import { jsonType } from './media-types.ts'
import { addTag, type Resource } from './reading.ts'
import type { RouteServices } from './services.ts'

type Created = Exclude<Handled<PetState | undefined>, { outcome: 'unchanged' }>

/** What came of a command that always makes something. */
export function createdBy(handled: Handled<PetState | undefined>): Created {
  if (handled.outcome === 'unchanged') throw new Error('the command made nothing')
  return handled
}

/** 201, with the JSON of what was made: now, or by an earlier request under the Idempotency-Key. */
export function replyWithCreated(
  services: RouteServices,
  { path }: Resource,
  created: Created,
  { id, json }: { readonly id: number; readonly json: string },
  atLeast: AtLeast | undefined,
  reply: FastifyReply,
): string {
  const isReplayed = created.outcome === 'replayed'
  if (isReplayed) reply.header('idempotency-replayed', 'true')
  reply.code(201).header('location', `${path}/${id}`).type(jsonType)
  addTag(services, isReplayed ? created.record.version : created.version, reply)
  addToken(services.log, atLeast, [created.position], reply)
  return json
}
