import type { Offset, Position } from '../event-log/event-log.ts'
import { ServiceError } from '../lib/errors.ts'
import { seal, unseal } from './sealed-text.ts'

/** The log whose positions tokens name. */
export interface TokenScope {
  readonly logId: string
  readonly partitions: number
}

/** `log id:partition:offset,partition:offset,…`; those of earlier releases name one position. */
const form = /^([^,]+):(\d{1,9}:\d{1,16}(?:,\d{1,9}:\d{1,16})*)$/

/** In one header; more than one for each partition of the largest log are of no use. */
const tokensMax = 256

/** Positions of the log as an opaque text: whoever reads with it sees everything up to them, on any instance. */
export function writeToken({ logId }: TokenScope, positions: readonly Position[]): string {
  return seal(`${logId}:${furthest(positions).map(({ partition, offset }) => `${partition}:${offset}`)}`)
}

/**
 * The positions in a Consistency-Token header, one of each partition: one token, or several separated by commas. Throws
 * ServiceError invalid_consistency_token unless each was made by `writeToken` for the same log.
 */
export function readTokens(scope: TokenScope, header: string): readonly Position[] {
  const tokens = header.split(',', tokensMax + 1)
  if (tokens.length > tokensMax) throw invalid(`has more than ${tokensMax} tokens`)
  return furthest(tokens.flatMap((token) => readToken(scope, token.trim())))
}

function readToken({ logId, partitions }: TokenScope, token: string): Position[] {
  const [, madeIn, pairs = ''] = form.exec(unseal(token) ?? '') ?? []
  if (madeIn !== undefined && madeIn !== logId) throw invalid('belongs to another event log than this one')
  return pairs.split(',').map((pair) => {
    const [partition = Number.NaN, offset = Number.NaN] = pair.split(':').map(Number)
    if (!(partition < partitions) || !Number.isSafeInteger(offset)) {
      throw invalid('is not one that this service gave out')
    }
    return { partition, offset }
  })
}

function furthest(positions: readonly Position[]): readonly Position[] {
  if (positions.length === 1) return positions
  const offsets = new Map<number, Offset>()
  for (const { partition, offset } of positions) {
    offsets.set(partition, Math.max(offset, offsets.get(partition) ?? 0))
  }
  return [...offsets].map(([partition, offset]) => ({ partition, offset }))
}

function invalid(what: string): ServiceError {
  return new ServiceError('invalid_consistency_token', `header: Consistency-Token ${what}`)
}
