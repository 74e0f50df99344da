import { type Checkpoint, encodeCheckpoint } from '../read-models/checkpoint.ts'
import type { ParkedEvent } from '../read-models/parked-event.ts'
import type { ApplyResult, LoadRequest, ProjectionStore } from '../read-models/projection-store.ts'
import type { StreamId, StreamRow } from '../read-models/stream-row.ts'
import { documentName, type Known } from './classify.ts'
import type { StreamDefinition } from './definition.ts'
import type { Parked } from './parked-queues.ts'
import { type RecordContent, type RecordSource, readParked } from './record-content.ts'

export interface LookupOptions<Event> extends RecordSource<Event> {
  readonly store: Pick<ProjectionStore, 'load'>
  readonly definition: StreamDefinition<unknown, Event>
  readonly generation: string
  readonly partition: number
  readonly expected: Checkpoint
}

/** What a batch has to know of its partition, at the checkpoint that it is expected to have. */
export class Lookup<Event> implements Known<Event> {
  readonly rows = new Map<StreamId, StreamRow | undefined>()
  readonly parkedStreams = new Set<StreamId>()
  readonly queues = new Map<StreamId, readonly Parked<Event>[]>()
  readonly decidedKeys = new Set<string>()
  readonly takenDocuments = new Set<string>()
  readonly #options: LookupOptions<Event>

  constructor(options: LookupOptions<Event>) {
    this.#options = options
  }

  /**
   * A stream whose first event comes first in the batch is taken to be new, which the store checks: a replay of creations
   * asks for nothing. Resolves to false where the partition is not as expected.
   */
  async lookUp(contents: readonly RecordContent<Event>[]): Promise<boolean> {
    const [streams, begun] = [new Set<StreamId>(), new Set<StreamId>()]
    const [keys, queues] = [new Set<string>(), new Set<StreamId>()]
    for (const content of contents) {
      if (content.kind === 'skipped') continue
      const { stream } = content
      if (content.kind === 'discard') queues.add(stream)
      else if (content.key !== undefined) keys.add(content.key)
      if (content.kind === 'event' && content.version === 1) begun.add(stream)
      else if (!begun.has(stream)) streams.add(stream)
    }
    return await this.#load({ streams: [...streams], keys: [...keys], queues: [...queues] })
  }

  /** What was taken for new exists. Resolves as `lookUp` does. */
  async learn({ streams, documents }: Extract<ApplyResult, { outcome: 'exist' }>): Promise<boolean> {
    const isHome = ({ collection }: { collection: string }) => collection === this.#options.definition.home
    const shown = documents.filter(isHome).map(({ id }) => String(id))
    const unknown = [...new Set([...streams, ...shown])].filter((stream) => !this.rows.has(stream))
    const taken = documents.filter((document) => !isHome(document)).map(documentName)
    if (unknown.length === 0 && taken.every((name) => this.takenDocuments.has(name))) {
      throw new Error(`the store refuses what it does not show: ${JSON.stringify({ streams, documents })}`)
    }
    for (const name of taken) this.takenDocuments.add(name)
    return await this.#load({ streams: unknown, keys: [], queues: [] })
  }

  async #load(request: Omit<LoadRequest, 'partition'>): Promise<boolean> {
    const { streams, keys, queues } = request
    if (streams.length + keys.length + queues.length === 0) return true
    const { store, generation, partition, expected } = this.#options
    const state = await store.load(generation, { partition, ...request })
    if (state === undefined || encodeCheckpoint(state.checkpoint) !== encodeCheckpoint(expected)) return false
    for (const stream of streams) this.rows.set(stream, state.rows.get(stream))
    for (const stream of state.parkedStreams) this.parkedStreams.add(stream)
    for (const key of state.decidedKeys) this.decidedKeys.add(key)
    const keysBehind = new Set<string>()
    for (const stream of queues) {
      const queue = (state.queues.get(stream) ?? []).map((event) => this.#read(event))
      this.queues.set(stream, queue)
      for (const { content } of queue) if (content?.key !== undefined) keysBehind.add(content.key)
    }
    return await this.#load({ streams: [], keys: [...keysBehind], queues: [] })
  }

  #read(event: ParkedEvent): Parked<Event> {
    const content = readParked(this.#options, event)
    return { event, content: content.kind === 'event' ? content : undefined }
  }
}
