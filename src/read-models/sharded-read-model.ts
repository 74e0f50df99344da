import type { EventLog, Position } from '../event-log/event-log.ts'
import { type DocumentId, documentsIn } from './document.ts'
import type { Applied, AtLeast, FoundDocument, Page, ReadModel, Wait } from './read-model.ts'
import { shardOf } from './shards.ts'
import type { LoadedStream, PageQuery, StreamQuery } from './stored-reads.ts'

/**
 * A read model over shards, each of which proves its answers (decision 0016). Nothing is atomic across them: each is as
 * new as it is.
 */
export class ShardedReadModel implements ReadModel {
  readonly #shards: readonly ReadModel[]
  readonly #log: Pick<EventLog, 'partitionFor'>

  constructor(shards: readonly ReadModel[], log: Pick<EventLog, 'partitionFor'>) {
    this.#shards = shards
    this.#log = log
  }

  async find(document: DocumentId, atLeast?: AtLeast): Promise<FoundDocument> {
    const shard = this.#shardOf(this.#log.partitionFor(String(document.id)))
    return await this.#at(shard).find(document, this.#ownOf(shard, atLeast))
  }

  /** The first `limit` of all are among the first `limit` of each. */
  async page(query: PageQuery, atLeast?: AtLeast): Promise<Page> {
    const pages = await Promise.all(this.#shards.map((model, shard) => model.page(query, this.#ownOf(shard, atLeast))))
    const found = pages.flatMap(({ documents }) => documentsIn(documents)).sort((one, other) => one.id - other.id)
    const shown = found.slice(0, query.limit)
    const isMore = found.length > shown.length || pages.some(({ last }) => last !== undefined)
    return {
      documents: shown.map(({ json }) => json).join(','),
      count: shown.length,
      last: isMore ? shown.at(-1)?.id : undefined,
      reached: pages.flatMap(({ reached }) => reached),
    }
  }

  async load(query: StreamQuery, atLeast?: AtLeast): Promise<LoadedStream> {
    const { stream, key, event } = query
    const partition = stream === undefined ? (key ?? event)?.partition : this.#log.partitionFor(stream)
    const shard = this.#shardOf(partition ?? 0)
    return await this.#at(shard).load(query, this.#ownOf(shard, atLeast))
  }

  whenApplied(position: Position, wait: Wait): Promise<Applied> {
    return this.#at(this.#shardOf(position.partition)).whenApplied(position, wait)
  }

  #shardOf(partition: number): number {
    return shardOf(partition, this.#shards.length)
  }

  #at(shard: number): ReadModel {
    const model = this.#shards[shard]
    if (model === undefined) throw new RangeError(`no shard ${shard}`)
    return model
  }

  /** Positions can be reached in the shard of their partition only. */
  #ownOf(shard: number, atLeast: AtLeast | undefined): AtLeast | undefined {
    const positions = atLeast?.positions.filter(({ partition }) => this.#shardOf(partition) === shard) ?? []
    return atLeast && positions.length > 0 ? { ...atLeast, positions } : undefined
  }
}
