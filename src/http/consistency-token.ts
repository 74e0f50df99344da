import type { Position } from '../event-log/event-log.ts'
import { ServiceError } from '../lib/errors.ts'
import { seal, unseal } from './sealed-text.ts'

/** Of the log whose positions tokens name. */
export interface TokenScope {
  readonly epoch: string
  readonly partitions: number
}

const form = /^(.+):(\d{1,9}):(0|[1-9]\d{0,15})$/

/** A position of the log as an opaque text: whoever reads with it sees the record there, on any instance. */
export function writeToken({ epoch }: TokenScope, { partition, offset }: Position): string {
  return seal(`${epoch}:${partition}:${offset}`)
}

/**
 * The positions in a Consistency-Token header: one token, or several separated by commas. Throws ServiceError
 * invalid_consistency_token unless each was made by `writeToken` for the same log.
 */
export function readTokens(scope: TokenScope, header: string): Position[] {
  return header.split(',').map((token) => readToken(scope, token.trim()))
}

function readToken({ epoch, partitions }: TokenScope, token: string): Position {
  const [, madeIn, partition, offset] = form.exec(unseal(token) ?? '') ?? []
  if (madeIn !== undefined && madeIn !== epoch) throw invalid('belongs to another event log than this one')
  const position = { partition: Number(partition), offset: Number(offset) }
  if (!(position.partition < partitions) || !Number.isSafeInteger(position.offset)) {
    throw invalid('is not one that this service gave out')
  }
  return position
}

function invalid(what: string): ServiceError {
  return new ServiceError('invalid_consistency_token', `header: Consistency-Token ${what}`)
}
