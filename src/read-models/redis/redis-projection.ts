import { decodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { decodeParkedEvent } from '../parked-event.ts'
import type { ApplyResult, Batch, LoadRequest, PartitionState, ProjectionStore } from '../projection-store.ts'
import { homeIdOf, type StreamId, type StreamRow } from '../stream-row.ts'
import { applyBatchArguments } from './apply-batch-arguments.ts'
import type { RedisCalls } from './redis-calls.ts'
import { keyField, type RedisKeys } from './redis-keys.ts'
import { pairs } from './stored-snapshot.ts'
import { decodeStream } from './stored-stream.ts'

export class RedisProjection implements ProjectionStore {
  readonly #calls: RedisCalls
  readonly #keys: RedisKeys
  readonly #home: string

  /** `home`: the collection whose documents show the streams of the same id. */
  constructor(calls: RedisCalls, keys: RedisKeys, home: string) {
    this.#calls = calls
    this.#keys = keys
    this.#home = home
  }

  async load(generation: string, request: LoadRequest): Promise<PartitionState | undefined> {
    const { partition, streams, keys, queues } = request
    const all = this.#keys.generation(generation)
    const shown = streams.flatMap((stream) => homeIdOf(stream) ?? [])
    const reply = await this.#calls.run(
      'loadPartition',
      [all.checkpoints, all.set(this.#home), all.rows, all.parkedStreams, all.keys, all.parked, all.parkedQueue],
      [
        partition,
        shown.join(' '),
        ...[streams, keys.map((key) => keyField({ partition, key })), queues].flatMap((list) => [list.length, ...list]),
      ],
    )
    if (reply === null) return undefined
    const [checkpoint, members, rows, parked, decided, queued] = reply
    const found = queues.map(
      (stream, i) => [stream, pairs(queued[i] ?? []).map(([field, text]) => decodeParkedEvent(field, text))] as const,
    )
    const parkedStreams = [
      ...placesIn(streams, parked).keys(),
      ...found.flatMap(([stream, [first]]) => (first ? stream : [])),
    ]
    return {
      checkpoint: checkpoint === '' ? startOfPartition : decodeCheckpoint(checkpoint),
      rows: rowsOf(streams, members.split('\0\0'), placesIn(streams, rows)),
      parkedStreams: new Set(parkedStreams),
      decidedKeys: new Set(placesIn(keys, decided).keys()),
      queues: new Map(found),
    }
  }

  async apply(generation: string, batch: Batch): Promise<ApplyResult> {
    const { keys, args } = applyBatchArguments(this.#keys, generation, batch, this.#home)
    const [outcome, streams, documents] = await this.#calls.run('applyBatch', keys, args)
    if (outcome !== 'exist') return { outcome }
    const known = new Set(streams)
    const exist = pairs(documents).map(([collection, id]) => {
      if (collection === this.#home) known.add(id)
      return { collection, id: Number(id) }
    })
    return { outcome, streams: batch.newStreams.filter((stream) => known.has(stream.toWellFormed())), documents: exist }
  }
}

/** `found`: places in `asked`, from 1, each followed by what was found. */
function placesIn(asked: readonly string[], found: readonly string[]): Map<string, string> {
  return new Map(pairs(found).map(([place, value]) => [asked[Number(place) - 1] ?? '', value]))
}

/** `members`: in the order of those streams that a document can show, '' where there is none. */
function rowsOf(
  streams: readonly StreamId[],
  members: readonly string[],
  alone: ReadonlyMap<StreamId, string>,
): Map<StreamId, StreamRow> {
  const rows = new Map<StreamId, StreamRow>()
  let at = 0
  for (const stream of streams) {
    const member = homeIdOf(stream) === undefined ? '' : members[at++]
    const row = decodeStream(stream, member || undefined, alone.get(stream))
    if (row !== undefined) rows.set(stream, row)
  }
  return rows
}
