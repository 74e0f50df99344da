import type { Logger } from 'pino'
import type { Definition } from '../definition/definition.ts'
import type { Check } from '../http/routes/health.ts'
import { auditTo } from '../lib/operating/audit.ts'
import type { Tracing } from '../lib/operating/tracing.ts'
import type { EventLog } from '../log/event-log.ts'
import { type Lag, LagMeter } from '../projector/lag-meter.ts'
import { Projector } from '../projector/projector.ts'
import { type Stall, StallWatch } from '../projector/stall-watch.ts'
import { IncompleteGenerations } from '../read-models/incomplete.ts'
import { ProvenReadModel, type ReadModelState } from '../read-models/proven-read-model.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { type Shard, ShardedReadModel, shardOf, shardsOf } from '../read-models/shards.ts'
import type { StreamNames } from '../read-models/stream-names.ts'
import { Tracker } from '../read-models/tracker.ts'
import type { Storage } from './storage/storage.ts'

/**
 * Longer than the second after which the lag meter looks, so that its look serves everybody. The tracker looks by itself
 * where no meter does, or the log keeps the meter waiting.
 */
const lookMs = 1250

/** A shard of the read models, as one process follows it. There is one shard unless READ_MODEL_SHARDS is higher. */
export interface TrackedShard extends Shard {
  readonly tracker: Tracker
  readonly incomplete: IncompleteGenerations
}

export function trackShards({ stores, log }: Pick<Storage, 'stores' | 'log'>, logger: Logger): readonly TrackedShard[] {
  return shardsOf(stores, log).map((shard) => {
    const { generations } = shard.store
    const tracker = new Tracker(generations, { lookMs })
    const incomplete = new IncompleteGenerations(generations, log.logId, logger)
    tracker.observe({
      looked: (look) => {
        if (look.active?.logId === log.logId) incomplete.looked(look.active.name, look)
      },
    })
    return { ...shard, tracker, incomplete }
  })
}

export type Projectors = Awaited<ReturnType<typeof startProjectors>>

/** One projector per shard, on a shared subscription: an unavailable shard delays only its own partitions. */
export async function startProjectors(
  definition: Definition,
  shards: readonly TrackedShard[],
  group: string,
  logger: Logger,
  tracing?: Tracing,
) {
  const audit = auditTo(logger)
  const discarded = (details: object) => audit('event discarded', details)
  const projectors = await Promise.all(
    shards.map((shard) => Projector.start({ ...shard, definition, group, logger, discarded, tracing })),
  )
  return {
    each: projectors,
    get state() {
      const states = projectors.map(({ state }) => state)
      const partitions = states.flatMap((state) => state.partitions).sort((a, b) => a - b)
      return { status: states.every(({ status }) => status === 'up') ? 'up' : 'waiting', partitions } as const
    },
    close: async () => void (await Promise.all(projectors.map((projector) => projector.close()))),
  }
}

export type WatchedLag = ReturnType<typeof watchLag>

/** Checks each shard separately, so that an unavailable shard does not hide a stalled one. */
export function watchLag(
  shards: readonly TrackedShard[],
  stallMs: number,
  projectors: Pick<Projectors, 'each'> | undefined,
) {
  const watched = shards.map(({ log, tracker }, shard) => {
    const projector = projectors?.each[shard]
    const watch = projector && new StallWatch(stallMs, projector)
    const looked = (found: Lag, atMs: number) => watch?.look(found, atMs)
    return { watch, meter: new LagMeter({ log, tracker, looked }) }
  })
  return {
    get lag() {
      return lagOfAll(watched.map(({ meter }) => meter.lag))
    },
    /** Undefined in a process that does not project. */
    get stalls(): readonly Stall[] | undefined {
      return projectors && watched.flatMap(({ watch }) => watch?.stalls ?? [])
    },
    close: async () => void (await Promise.all(watched.map(({ meter }) => meter.close()))),
  }
}

/** Known only if the lag of every shard is known. */
function lagOfAll(lags: readonly Lag[]): Lag {
  const unknown = lags.find((lag) => lag.status === 'unknown')
  if (unknown !== undefined) return unknown
  const known = lags.filter((lag) => lag.status === 'known')
  const partitions = known.flatMap((lag, shard) =>
    lag.partitions.filter(({ partition }) => shardOf(partition, lags.length) === shard),
  )
  const generation = known.map((lag) => lag.generation).join(' ')
  const rebuilds = known.flatMap(({ rebuildEvents }) => rebuildEvents ?? [])
  const rebuildEvents = rebuilds.length > 0 ? rebuilds.reduce((sum, each) => sum + each, 0) : undefined
  partitions.sort((a, b) => a.partition - b.partition)
  return { status: 'known', generation, partitions, rebuildEvents }
}

/** 'degraded': some shards can be read, others cannot. */
export type ReadStatus = ReadModelState['status'] | 'degraded'

type ReadState = Check & { readonly status: ReadStatus }
export type ReadSide = ReturnType<typeof openReadSide>

/** What requests read from, with any number of shards. */
export function openReadSide(shards: readonly TrackedShard[], log: EventLog, names: StreamNames) {
  const models = shards.map(({ store: { reads, inspection }, log: ownLog, tracker, incomplete }) => {
    return new ProvenReadModel({ reads, inspection, tracker, log: ownLog, incomplete })
  })
  const [only] = models
  const readModel: ReadModel =
    only !== undefined && models.length === 1 ? only : new ShardedReadModel(models, log, names)
  return {
    readModel,
    get state(): ReadState {
      return stateOf(models.map(({ state }) => state))
    },
    close() {
      for (const model of models) model.close()
    },
  }
}

function stateOf(states: readonly ReadState[]): ReadState {
  const [first, ...others] = states
  if (first !== undefined && others.length === 0) return first
  const statuses = new Set(states.map(({ status }) => status))
  if (first !== undefined && statuses.size === 1) return { status: first.status, shards: states }
  return { status: statuses.has('up') ? 'degraded' : 'rebuilding', shards: states }
}
