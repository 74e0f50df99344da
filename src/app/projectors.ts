import type { Logger } from 'pino'
import { Projector } from '../projector/projector.ts'
import { shardsOnOneSubscription } from '../read-models/shards.ts'
import { petStreams } from './petstore.ts'
import type { TrackedShard } from './shards.ts'
import type { Storage } from './storage.ts'

export interface Projectors {
  readonly state: { readonly status: 'up' | 'waiting'; readonly partitions: readonly number[] }
  /** The partitions that the log gave this process. */
  readonly assignment: readonly number[]
  close(): Promise<void>
}

/** One for each shard, on one subscription: a shard that is away holds up its own partitions only. */
export async function startProjectors(
  { log, stores, group }: Pick<Storage, 'log' | 'stores' | 'group'>,
  shards: readonly TrackedShard[],
  logger: Logger,
): Promise<Projectors> {
  const logs = shardsOnOneSubscription(stores, log)
  const projectors = await Promise.all(
    shards.map(({ store, tracker }, shard) =>
      Projector.start({ log: logs[shard]?.log ?? log, store, tracker, definition: petStreams, group, logger }),
    ),
  )
  return {
    get state(): Projectors['state'] {
      const states = projectors.map(({ state }) => state)
      const partitions = states.flatMap((state) => state.partitions).sort((a, b) => a - b)
      return { status: states.every(({ status }) => status === 'up') ? 'up' : 'waiting', partitions }
    },
    get assignment() {
      return projectors.flatMap(({ assignment }) => assignment)
    },
    close: async () => void (await Promise.all(projectors.map((projector) => projector.close()))),
  }
}
