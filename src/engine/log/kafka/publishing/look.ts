import { isDeepStrictEqual } from 'node:util'
import { type LookedLane, type LookedPartition, StandsStill } from '../../published-log.ts'
import { type CheckedBy, checkEach } from './checked-memory.ts'
import { nothingStored, readPositions, type StoredMemory } from './positions.ts'
import { positionsOf } from './publishing-topics.ts'

export interface LaneToLookAt extends CheckedBy {
  readonly lane: number
  readonly lanes: number
  /** Its partition of the positions. */
  readonly position: number
}

/** Looks at a lane as whoever takes it over does, beside its owner. */
export async function lookAtLane(looked: LaneToLookAt): Promise<Omit<LookedLane, 'owner'>> {
  const { lane, logId } = looked
  try {
    const before = await memoryOf(looked)
    const found = await checkEach(looked, looked, async (partition, check) => {
      const stored = before.get(partition)
      const told = await check(stored).catch(stillOr)
      if (!(told instanceof StandsStill)) return shown(partition, told)
      return shown(partition, stored ?? nothingStored(logId), told.message)
    })
    if (found.every(({ failure }) => failure === undefined)) return { lane, failure: undefined, partitions: found }
    // A transaction may have ended between the looks at the two topics: what moved meanwhile does not stand still.
    const after = await memoryOf(looked)
    const partitions = found.map((each) => {
      const moved = after.get(each.partition)
      const isSame = isDeepStrictEqual(moved, before.get(each.partition))
      return isSame || moved === undefined ? each : shown(each.partition, moved)
    })
    return { lane, failure: undefined, partitions }
  } catch (error) {
    return { lane, failure: stillOr(error).message, partitions: [] }
  }
}

async function memoryOf({ reader, topic, position }: LaneToLookAt): Promise<ReadonlyMap<number, StoredMemory>> {
  return (await readPositions(reader, positionsOf(topic), position)).memory
}

function shown(partition: number, stored: StoredMemory, failure?: string): LookedPartition {
  const { next, last, told, filled, waiting } = stored
  return { partition, next, last, told, filled, waiting: waiting.size, failure }
}

/** Throws anything else. */
function stillOr(error: unknown): StandsStill {
  if (error instanceof StandsStill) return error
  throw error
}
