import type { Redis } from 'ioredis'
import { byId } from '../by-id.ts'
import { loadedRows } from '../loaded-stream.ts'
import type { ProjectionStore } from '../ports/projection.ts'
import { foundRow } from '../row-place.ts'
import {
  decodeCheckpoint,
  decodeOffsets,
  decodeParkedStream,
  homeIdOf,
  keyId,
  startOfPartition,
} from '../stored-texts.ts'
import { applyBatchArguments } from './apply-batch-arguments.ts'
import { run } from './redis-calls.ts'
import type { RedisKeys } from './redis-keys.ts'
import { decodeShown, pairs } from './stored.ts'

/** `home`: the collection whose documents show the streams of the same id. */
export function redisProjection(redis: Redis, keys: RedisKeys, home: string): ProjectionStore {
  return {
    async load(generation, { partition, streams, keys: requestedKeys, waiting }) {
      const { checkpoints, set } = keys.generation(generation)
      const names = [checkpoints, ...[home, 'rows', 'parked', 'keys', 'waiting'].map(set)]
      const ids = streams.map((stream) => homeIdOf(stream) ?? 0).join(' ')
      const lists = [streams, requestedKeys.map((key) => keyId({ partition, key })), waiting]
      const args = [partition, ids, ...lists.flatMap((list) => [list.length, ...list])]
      const reply = await run(redis, 'load-partition', names, args)
      if (reply === null) return undefined
      const [checkpoint, memberTexts, rowTexts, parkedTexts, decided, chunks] = reply
      const members = memberTexts.split('\0\0')
      return {
        checkpoint: checkpoint === null ? startOfPartition : decodeCheckpoint(checkpoint, partition),
        ...loadedRows(streams, (stream, i) => {
          const shown = members[i]
            ? decodeShown({ collection: home, id: homeIdOf(stream) ?? 0 }, members[i])
            : undefined
          return foundRow(shown, () => rowTexts[i] ?? undefined)
        }),
        parked: byId(streams, (stream, i) => {
          const text = parkedTexts[i]
          return typeof text === 'string' ? decodeParkedStream(stream, text) : undefined
        }),
        decidedKeys: new Set(requestedKeys.filter((_, i) => typeof decided[i] === 'string')),
        waiting: byId(waiting, (_, i) => {
          const text = chunks[i]
          return typeof text === 'string' ? decodeOffsets(text) : undefined
        }),
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
