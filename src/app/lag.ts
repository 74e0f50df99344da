import { type Lag, LagMeter } from '../projector/lag-meter.ts'
import { type Stall, StallWatch } from '../projector/stall-watch.ts'
import { shardOf } from '../read-models/shards.ts'
import type { Projectors } from './projectors.ts'
import type { TrackedShard } from './shards.ts'

export interface WatchedLag {
  readonly lag: Lag
  /** Undefined in a process that does not project. */
  readonly stalls: readonly Stall[] | undefined
  close(): Promise<void>
}

/** Each shard is looked at by itself, so that one that is away does not hide that another stands still. */
export function watchLag(
  shards: readonly TrackedShard[],
  stallMs: number,
  projectors: Pick<Projectors, 'assignment'> | undefined,
): WatchedLag {
  const watched = shards.map(({ log, tracker }) => {
    const watch = projectors && new StallWatch(stallMs, () => projectors.assignment)
    return { watch, meter: new LagMeter({ log, tracker, looked: (found, atMs) => watch?.look(found, atMs) }) }
  })
  return {
    get lag() {
      return lagOfAll(watched.map(({ meter }) => meter.lag))
    },
    get stalls() {
      return projectors && watched.flatMap(({ watch }) => watch?.stalls ?? [])
    },
    close: async () => void (await Promise.all(watched.map(({ meter }) => meter.close()))),
  }
}

/** Known where that of every shard is. */
function lagOfAll(lags: readonly Lag[]): Lag {
  const unknown = lags.find((lag) => lag.status === 'unknown')
  if (unknown !== undefined) return unknown
  const known = lags.flatMap((lag) => (lag.status === 'known' ? [lag] : []))
  const partitions = known.flatMap((lag, shard) =>
    lag.partitions.filter(({ partition }) => shardOf(partition, lags.length) === shard),
  )
  const generation = known.map((lag) => lag.generation).join(' ')
  return { status: 'known', generation, partitions: partitions.sort((a, b) => a.partition - b.partition) }
}
