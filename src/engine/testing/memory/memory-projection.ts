import { timeOfDay } from '../../lib/clock.ts'
import { byId } from '../../read-models/by-id.ts'
import { loadedRows } from '../../read-models/loaded-stream.ts'
import type { ProjectionStore } from '../../read-models/ports/projection.ts'
import { decodeOffsets, decodeParkedStream, keyId } from '../../read-models/stored-texts.ts'
import type { MemoryStore } from './opened-store.ts'

const pauseMs = 1000

export function projectionOf(store: MemoryStore): ProjectionStore {
  return {
    async load(name, { partition, streams, keys, waiting }) {
      const generation = store.generation(name)
      if (generation === undefined) return undefined
      return {
        checkpoint: generation.checkpoint(partition),
        ...loadedRows(streams, (stream) => generation.row(stream)),
        parked: byId(streams, (stream) => {
          const text = generation.text('parked', stream)
          return text === undefined ? undefined : decodeParkedStream(stream, text)
        }),
        decidedKeys: new Set(keys.filter((key) => generation.text('keys', keyId({ partition, key })) !== undefined)),
        waiting: byId(waiting, (chunk) => {
          const text = generation.text('waiting', chunk)
          return text === undefined ? undefined : decodeOffsets(text)
        }),
      }
    },

    async apply(name, batch) {
      const generation = store.generation(name)
      if (generation === undefined || generation.state === 'replaced') return { outcome: 'generation_gone' }
      const isActive = generation.state === 'active'
      if (isActive && timeOfDay().getTime() - generation.paused < pauseMs) return { outcome: 'later' }
      const result = generation.apply(batch)
      if (isActive && result.outcome === 'applied') {
        const { partition, expected, checkpoint, withoutEffect } = batch
        store.listeners.progress(name, { partition, from: expected.next, next: checkpoint.next, withoutEffect })
      }
      return result
    },
  }
}
