import type { Logger } from 'pino'
import { pets } from '../../projections/pets.ts'
import { Projector } from '../projector/projector.ts'
import { shardsOnOneSubscription } from '../read-models/shards.ts'
import type { Storage } from './storage.ts'

export type RunningProjectors = Pick<Projector<never>, 'state' | 'assignment' | 'close'>

/** One for each shard, on one subscription: a shard that is away holds up its own partitions only. */
export async function startProjectors(
  { log, stores, group }: Pick<Storage, 'log' | 'stores' | 'group'>,
  logger: Logger,
): Promise<RunningProjectors> {
  const shards = shardsOnOneSubscription(stores, log)
  const started = shards.map((shard) => Projector.start({ ...shard, definition: pets, group, logger }))
  const projectors = await Promise.all(started)
  const [only] = projectors
  return projectors.length === 1 && only !== undefined ? only : allOf(projectors)
}

function allOf(projectors: readonly RunningProjectors[]): RunningProjectors {
  return {
    get state(): RunningProjectors['state'] {
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
