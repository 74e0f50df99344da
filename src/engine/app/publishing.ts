import type { Logger } from 'pino'
import type { Definition } from '../definition/definition.ts'
import { documentTelling } from '../publishing/documents.ts'
import { Publisher, type PublisherState } from '../publishing/publisher.ts'
import { eventTelling } from '../publishing/teller.ts'
import { openReadSide, type ReadSide, type TrackedShard, type WatchedLag } from './shards.ts'
import type { Storage } from './storage/storage.ts'

/** The publishers of one process. */
export interface Publishing {
  readonly states: readonly PublisherState[]
  close(): Promise<void>
}

/** Undefined where nothing is to be published. `readSide` is that of the API of this process, if it has one. */
export function startPublishing(
  definition: Definition,
  { log, openPublished }: Pick<Storage, 'log' | 'openPublished'>,
  shards: readonly TrackedShard[],
  lag: WatchedLag,
  logger: Logger,
  readSide: ReadSide | undefined,
): Publishing | undefined {
  const topics = openPublished()
  if (topics.length === 0) return undefined
  const side = readSide ?? openReadSide(shards, log, definition.names)
  const options = { definition, log, readModel: side.readModel, lag: () => lag.lag, logger }
  const publishers = topics.map((published) => {
    const telling = published.publisher === 'events' ? eventTelling : documentTelling(options)
    return new Publisher({ ...options, telling, published })
  })
  const heard = (partition: number, next: number) => {
    for (const publisher of publishers) publisher.heard(partition, next)
  }
  const endings = shards.map(({ tracker }) =>
    tracker.observe({
      progress: (_, progress) => progress && heard(progress.partition, progress.next),
      looked: ({ checkpoints = [] }) => {
        for (const [partition, { next }] of checkpoints) heard(partition, next)
      },
    }),
  )
  return {
    get states() {
      return publishers.map(({ state }) => state)
    },
    async close() {
      for (const end of endings) end()
      await Promise.all(publishers.map((publisher) => publisher.close()))
      if (readSide === undefined) side.close()
    },
  }
}
