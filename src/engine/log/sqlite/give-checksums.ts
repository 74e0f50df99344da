import type { Logger } from 'pino'
import type { StoredRecords } from './stored-records.ts'

const atOnce = 10_000
const tellEveryMs = 5000

/**
 * Gives checksums to the records that a release before checksums appended: to all of its log, or to those behind the
 * last checksum. Where it is interrupted, the next start goes on.
 */
export function giveChecksums(
  records: StoredRecords,
  inTransaction: <T>(work: () => T) => T,
  logger: Logger | undefined,
): void {
  const end = records.end()
  let next = records.expectEnd().offset + 1
  if (next === end) return
  logger?.info({ from: next, end }, 'events that an earlier release appended get checksums')
  let toldMs = performance.now()
  while (next < end) {
    next = inTransaction(() => records.giveChecksums(atOnce)).offset + 1
    if (next < end && performance.now() - toldMs < tellEveryMs) continue
    toldMs = performance.now()
    logger?.info({ next, end }, next < end ? 'events get checksums' : 'all events have checksums')
  }
}
