import type { Check } from '../http/health.ts'
import type { EventLog } from '../log/event-log.ts'
import { ProvenReadModel, type ReadModelState } from '../read-models/proven-read-model.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import { ShardedReadModel } from '../read-models/shards.ts'
import type { TrackedShard } from './shards.ts'

/** 'degraded': some shards can be read, others cannot. */
export type ReadStatus = ReadModelState['status'] | 'degraded'

type ReadState = Check & { readonly status: ReadStatus }
export type ReadSide = ReturnType<typeof openReadSide>

/** What requests read from, with any number of shards. */
export function openReadSide(shards: readonly TrackedShard[], log: EventLog) {
  const models = shards.map(({ store: { reads }, log: ownLog, tracker, incomplete }) => {
    return new ProvenReadModel({ reads, tracker, log: ownLog, incomplete })
  })
  const [only] = models
  const readModel: ReadModel = only !== undefined && models.length === 1 ? only : new ShardedReadModel(models, log)
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
