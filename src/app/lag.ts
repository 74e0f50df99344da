import { type Lag, LagMeter } from '../projector/lag-meter.ts'
import { StallWatch } from '../projector/stall-watch.ts'
import { shardOf, shardsOf } from '../read-models/shards.ts'
import type { RunningProjectors } from './projectors.ts'
import type { Storage } from './storage.ts'

export interface WatchedLag {
  readonly lag: Pick<LagMeter, 'lag' | 'close'>
  /** Undefined in a process that does not project. */
  readonly stalls: Pick<StallWatch, 'stalls'> | undefined
}

/** Each shard is looked at by itself, so that one that is away does not hide that another stands still. */
export function watchLag(
  { stores, log }: Pick<Storage, 'stores' | 'log'>,
  stallMs: number,
  projector: Pick<RunningProjectors, 'assignment'> | undefined,
): WatchedLag {
  const watched = shardsOf(stores, log).map((shard) => {
    const stalls = projector && new StallWatch(stallMs, () => projector.assignment)
    return { stalls, lag: new LagMeter({ ...shard, looked: (found, atMs) => stalls?.look(found, atMs) }) }
  })
  const [only] = watched
  return watched.length === 1 && only !== undefined ? only : allOf(watched)
}

function allOf(watched: readonly WatchedLag[]): WatchedLag {
  const lag: WatchedLag['lag'] = {
    get lag() {
      return lagOfAll(watched.map((shard) => shard.lag.lag))
    },
    close: async () => void (await Promise.all(watched.map((shard) => shard.lag.close()))),
  }
  const watches = watched.flatMap(({ stalls }) => stalls ?? [])
  const stalls: WatchedLag['stalls'] = {
    get stalls() {
      return watches.flatMap((each) => each.stalls)
    },
  }
  return { lag, stalls: watches.length === 0 ? undefined : stalls }
}

/** Known where that of every shard is. */
function lagOfAll(lags: readonly Lag[]): Lag {
  const known = lags.flatMap((lag) => (lag.status === 'known' ? [lag] : []))
  const [unknown] = lags.flatMap((lag) => (lag.status === 'unknown' ? [lag] : []))
  if (unknown !== undefined) return unknown
  const partitions = known.flatMap((lag, shard) =>
    lag.partitions.filter(({ partition }) => shardOf(partition, lags.length) === shard),
  )
  const generation = known.map((lag) => lag.generation).join(' ')
  return { status: 'known', generation, partitions: partitions.sort((a, b) => a.partition - b.partition) }
}
