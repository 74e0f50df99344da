import type { Redis } from 'ioredis'
import { byId } from '../by-id.ts'
import { loadedRows } from '../loaded-stream.ts'
import type { ProjectionStore } from '../ports/projection.ts'
import { foundRow } from '../row-place.ts'
import { decodeCheckpoint, decodeOffsets, decodeParkedStream, keyId, startOfPartition } from '../stored-texts.ts'
import type { StreamNames } from '../stream-names.ts'
import { applyBatchArguments, placeOf } from './apply-batch-arguments.ts'
import { run } from './redis-calls.ts'
import type { RedisKeys } from './redis-keys.ts'
import { decodeShown, pairs } from './stored.ts'

export function redisProjection(redis: Redis, keys: RedisKeys, streamNames: StreamNames): ProjectionStore {
  return {
    async load(generation, { partition, streams, keys: requestedKeys, waiting }) {
      const { checkpoints, set } = keys.generation(generation)
      const names = [checkpoints, ...['rows', 'parked', 'keys', 'waiting', ...streamNames.collections].map(set)]
      const shown = streams.map((stream) => streamNames.documentOf(stream))
      const places = shown.map((document) => placeOf(streamNames, document)).join(' ')
      const lists = [streams, requestedKeys.map((key) => keyId({ partition, key })), waiting]
      const args = [partition, places, ...lists.flatMap((list) => [list.length, ...list])]
      const reply = await run(redis, 'load-partition', names, args)
      if (reply === null) return undefined
      const [checkpoint, memberTexts, rowTexts, parkedTexts, decided, chunks] = reply
      const members = memberTexts.split('\0\0')
      return {
        checkpoint: checkpoint === null ? startOfPartition : decodeCheckpoint(checkpoint, partition),
        ...loadedRows(streams, (_, i) => {
          const [document, member] = [shown[i], members[i]]
          const found = document && member ? decodeShown(document, member) : undefined
          return foundRow(found, () => rowTexts[i] ?? undefined)
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
      const { keys: names, args } = applyBatchArguments(keys, generation, batch, streamNames)
      const [outcome, streams, documents] = await run(redis, 'apply-batch', names, args)
      if (outcome !== 'exist') return { outcome }
      const known = new Set(streams)
      const exist = pairs(documents).map(([collection, id]) => {
        const document = { collection, id: Number(id) }
        known.add(streamNames.streamOf(document) ?? '')
        return document
      })
      return {
        outcome,
        streams: batch.newStreams.filter((stream) => known.has(stream.toWellFormed())),
        documents: exist,
      }
    },
  }
}
