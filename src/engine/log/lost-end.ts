import type { EventLog, Offset } from './event-log.ts'
import { StandsStill } from './published-log.ts'

/** Why a partition of the log has another record, or none, where one was published. */
export async function lostEnd(
  log: Pick<EventLog, 'endOffsets'>,
  partition: number,
  offset: Offset,
): Promise<StandsStill> {
  const { [partition]: end = 0 } = await log.endOffsets()
  const found = end <= offset ? `ends at offset ${end}` : `has another record at offset ${offset}`
  return new StandsStill(
    `Partition ${partition} of the event log ${found}: it has lost its end after what was there had been published. ` +
      "See 'Publishing stands still' in the runbook.",
  )
}
