import { expect } from 'vitest'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { eventually } from '../../../lib/eventually.ts'
import type { ReadModelsFixture } from './fixture.ts'
import { newGeneration, started } from './samples.ts'

/** A listener that keeps what it hears, and what ends it. Connected once this resolves. */
export async function listenerOn({ generations }: ReadModelStore) {
  const heard: unknown[] = []
  const end = generations.listen({
    progress: (generation, progress) => heard.push(progress === undefined ? [generation] : [generation, progress]),
    connected: () => heard.push('connected'),
    disconnected: () => heard.push('disconnected'),
  })
  await eventually(() => expect(heard).toContain('connected'))
  return { heard, end }
}

/** A store whose active generation is a new one, with nothing under way that a listener could still hear of. */
export async function settled(fixture: ReadModelsFixture) {
  const { store, generation: first } = await started(fixture)
  const { heard, end } = await listenerOn(store)
  const generation = newGeneration()
  await store.generations.start(generation, first)
  await eventually(() => expect(heard.at(-1)).toEqual([generation.name]))
  end()
  return { store, generation: generation.name }
}

/** What a listener is to hear of a batch that was applied. */
export function progressOf(generation: string, { partition, expected, checkpoint, withoutEffect }: Batch): unknown {
  return [generation, { partition, from: expected.next, next: checkpoint.next, withoutEffect }]
}
