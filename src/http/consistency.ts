import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Position } from '../event-log/event-log.ts'
import type { AtLeast, Reached, Wait } from '../read-models/read-model.ts'
import { readTokens, type TokenScope, writeToken } from './consistency-token.ts'
import { preferredWait } from './prefer.ts'

/** What the request's Consistency-Token asks of its answer. Throws ServiceError invalid_consistency_token. */
export function readAtLeast(log: TokenScope, request: FastifyRequest, reply: FastifyReply): AtLeast | undefined {
  const tokens = request.headers['consistency-token']
  if (tokens === undefined) return undefined
  const atLeast = { positions: readTokens(log, String(tokens)), wait: readWait(request, reply) }
  reply.header('vary', 'Consistency-Token, Prefer')
  return atLeast
}

/** How long the request is willing to wait: Prefer, or as long as nobody says otherwise. */
export function readWait({ headers }: FastifyRequest, reply: FastifyReply): Wait {
  const { seconds, applied } = preferredWait(headers.prefer)
  reply.header('vary', 'Prefer')
  if (applied !== undefined) reply.header('preference-applied', applied)
  return { ...untilGone(reply), timeoutMs: seconds * 1000 }
}

/** For a command that awaits its outcome whatever Prefer says: it can end early only when the client goes. */
export function untilGone(reply: FastifyReply): Wait {
  return { timeoutMs: 0, isAbandoned: () => reply.raw.destroyed }
}

/**
 * Hands out a token that covers what the request was sent with and what its answer tells: whoever sends on the last one
 * never sees anything older, on any instance.
 */
export function addToken(
  log: TokenScope,
  atLeast: AtLeast | undefined,
  told: readonly Position[],
  reply: FastifyReply,
): void {
  reply.header('consistency-token', writeToken(log, atLeast === undefined ? told : [...atLeast.positions, ...told]))
}

/** The last positions of what an answer was read from. */
export function lastPositions(reached: Reached): Position[] {
  return reached.flatMap((checkpoints) =>
    [...checkpoints].flatMap(([partition, { next }]) => (next > 0 ? [{ partition, offset: next - 1 }] : [])),
  )
}
