import fc from 'fast-check'
import { expect } from 'vitest'
import { type Checkpoint, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import type { Batch, ParkedEvent, ReadModels } from '../../../src/read-models/read-models.ts'
import type { StoredGeneration } from '../../../src/read-models/upkeep.ts'
import { MemoryData } from '../memory-data.ts'
import { MemoryReadModels } from '../memory-read-models.ts'
import { topic } from './fixture.ts'
import { type ApplyStep, type Step, step } from './model-steps.ts'
import { allParked, batchAfter, contents, newGeneration } from './samples.ts'

/** Takes steps on a store and keeps its answers: those of two stores that keep the contract are the same. */
class Trace {
  readonly answers: unknown[] = []
  readonly #store: ReadModels
  readonly #names: string[]
  readonly #earlier = new Map<string, Checkpoint>()

  /** `names` are those of the generations to come. */
  constructor(store: ReadModels, names: readonly string[]) {
    this.#store = store
    this.#names = [...names]
  }

  async begin(): Promise<void> {
    await this.#store.start({ name: this.#names.shift() ?? '', epoch: 'epoch' }, (await this.#store.active())?.name)
    for (const { name } of await this.#store.generations()) await this.#store.remove(name) // of earlier traces
  }

  async take(step: Step): Promise<void> {
    const name = await this.#named('on' in step ? step.on : 'active')
    this.answers.push(step.kind, await this.#do(step, name))
    this.answers.push(await this.#store.active(), await this.#generations(), await contents(this.#store, name))
  }

  async end(): Promise<void> {
    for (const { name } of await this.#generations()) this.answers.push(await contents(this.#store, name))
  }

  async #do(step: Step, name: string): Promise<unknown> {
    const [store, next] = [this.#store, this.#names.shift() ?? '']
    switch (step.kind) {
      case 'apply':
        return this.#apply(step, name)
      case 'range':
        return store.range(name, step)
      case 'start': {
        const instead = { active: await this.#named('active'), none: undefined, other: 'another' }[step.instead]
        return store.start({ name: next, epoch: 'epoch' }, instead)
      }
      case 'build':
        return store.build({ name: next, epoch: step.epoch })
      case 'take over':
        return this.#takeOver(next)
      case 'activate':
        return store.activate(name)
      case 'remove':
        return store.remove(name)
      case 'prune':
        return (await store.prune(0)).toSorted()
    }
  }

  async #apply(step: ApplyStep, name: string): Promise<unknown> {
    const { partition } = step
    const stored = (await this.#store.checkpoints(name))?.get(partition) ?? startOfPartition
    const stale = this.#earlier.get(`${name}/${partition}`) ?? stored
    this.#earlier.set(`${name}/${partition}`, stored)
    const parked = (await allParked(this.#store, name)) ?? []
    const isParked = parked.filter((event) => event.partition === partition)
    const batch = batchOf(step, stored, stale, isParked)
    const results: unknown[] = []
    for (let delivery = 1; delivery <= step.deliveries; delivery++) results.push(await this.#store.apply(name, batch))
    return results
  }

  async #takeOver(next: string): Promise<unknown> {
    const active = await this.#named('active')
    const { name: building } = await this.#store.build({ name: next, epoch: 'epoch' })
    const results: unknown[] = [building]
    for (const [partition, { next }] of (await this.#store.checkpoints(active)) ?? []) {
      const stored = (await this.#store.checkpoints(building))?.get(partition) ?? startOfPartition
      if (stored.next >= next) continue
      const batch = batchAfter(stored, { partition })
      results.push(await this.#store.apply(building, { ...batch, checkpoint: { ...batch.checkpoint, next } }))
    }
    return [...results, await this.#store.activate(building)]
  }

  /** Where several are in a state, the same one in every trace. */
  async #named(state: ApplyStep['on']): Promise<string> {
    const wanted = state === 'other' ? 'replaced' : state
    return (await this.#generations()).find((generation) => generation.state === wanted)?.name ?? 'none'
  }

  async #generations(): Promise<Omit<StoredGeneration, 'since'>[]> {
    const all = (await this.#store.generations()).map(({ since: _, ...generation }) => generation)
    return all.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
}

function batchOf(step: ApplyStep, stored: Checkpoint, stale: Checkpoint, isParked: readonly ParkedEvent[]): Batch {
  const expected = {
    stored,
    stale,
    start: startOfPartition,
    'other counts': { ...stored, skipped: stored.skipped + 1 },
  }
  const isTo = (what: string) => (_: unknown, i: number) => step.retried[i] === what
  const unparked = isParked.filter(isTo('unpark'))
  const again = isParked.filter(isTo('park again')).map(({ offset, subject, value }) => ({
    ...{ offset, subject, value },
    reason: `again, at ${stored.next}`,
  }))
  const batch = batchAfter(expected[step.expected], { ...step, unparked: unparked.map(({ offset }) => offset) })
  const left = [...isParked.filter((event) => !unparked.includes(event)), ...batch.parked].map(({ subject }) => subject)
  const freed = new Set(unparked.map(({ subject }) => subject).filter((subject) => !left.includes(subject)))
  return { ...batch, parked: [...again, ...batch.parked], freed: [...freed] }
}

async function trace(store: ReadModels, steps: readonly Step[], names: readonly string[]): Promise<unknown[]> {
  const trace = new Trace(store, names)
  await trace.begin()
  for (const step of steps) await trace.take(step)
  await trace.end()
  return trace.answers
}

export const model = topic('the model', {
  'any steps give the answers that the simplest possible store gives': async (fixture) => {
    const store = await fixture.open()
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20, size: 'medium' }), async (steps) => {
        const names = Array.from({ length: steps.length + 1 }, () => newGeneration().name)
        const expected = await trace(new MemoryReadModels(new MemoryData()), steps, names)
        expect(await trace(store, steps, names)).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  },
})
