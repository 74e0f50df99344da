import type { Redis } from 'ioredis'
import { decodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { decodeParkedEvent } from '../parked-event.ts'
import type { ProjectionStore } from '../projection-store.ts'
import { homeIdOf, type StreamRow } from '../stream-row.ts'
import { applyBatchArguments } from './apply-batch-arguments.ts'
import { run } from './redis-calls.ts'
import { keyField, type RedisKeys } from './redis-keys.ts'
import { decodeStream, pairs } from './stored.ts'

/** `home`: the collection whose documents show the streams of the same id. */
export function redisProjection(redis: Redis, keys: RedisKeys, home: string): ProjectionStore {
  return {
    async load(generation, { partition, streams, keys: requestedKeys, queues }) {
      const { checkpoints, set } = keys.generation(generation)
      const names = [checkpoints, ...[home, 'rows', 'keys', 'parked', 'parked-queue'].map(set)]
      const ids = streams.map((stream) => homeIdOf(stream) ?? 0).join(' ')
      const lists = [streams, requestedKeys.map((key) => keyField({ partition, key })), queues]
      const args = [partition, ids, ...lists.flatMap((list) => [list.length, ...list])]
      const reply = await run(redis, 'load-partition', names, args)
      if (reply === null) return undefined
      const [checkpoint, memberTexts, rowTexts, parked, decided, queued] = reply
      const members = memberTexts.split('\0\0')
      const rows = new Map<string, StreamRow>()
      for (const [i, stream] of streams.entries()) {
        const row = decodeStream(stream, members[i], rowTexts[i])
        if (row !== undefined) rows.set(stream, row)
      }
      const found = queues.map((stream, i) => {
        return [stream, pairs(queued[i] ?? []).map(([field, text]) => decodeParkedEvent(field, text))] as const
      })
      return {
        checkpoint: checkpoint === '' ? startOfPartition : decodeCheckpoint(checkpoint),
        rows,
        parkedStreams: new Set([
          ...streams.filter((_, i) => parked[i] === '1'),
          ...found.flatMap(([stream, events]) => (events.length > 0 ? stream : [])),
        ]),
        decidedKeys: new Set(requestedKeys.filter((_, i) => typeof decided[i] === 'string')),
        queues: new Map(found),
      }
    },

    async apply(generation, batch) {
      const { keys: names, args } = applyBatchArguments(keys, generation, batch, home)
      const [outcome, streams, documents] = await run(redis, 'apply-batch', names, args)
      if (outcome !== 'exist') return { outcome }
      const known = new Set(streams)
      const exist = pairs(documents).map(([collection, id]) => {
        if (collection === home) known.add(id)
        return { collection, id: Number(id) }
      })
      return {
        outcome,
        streams: batch.newStreams.filter((stream) => known.has(stream.toWellFormed())),
        documents: exist,
      }
    },
  }
}
