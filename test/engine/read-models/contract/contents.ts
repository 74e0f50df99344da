import { expect } from 'vitest'
import { textSets } from '../../../../src/engine/read-models/document.ts'
import type { Inspection, Size } from '../../../../src/engine/read-models/ports/inspection.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { at, firstBatch, itemsIn, under } from './samples.ts'

/** Without the sets that neither have nor should have anything in them. */
export async function sizesOf(inspection: Inspection, generation: string) {
  const contents = await inspection.contents(generation)
  const isUsed = ([, { actual, recorded }]: [string, Size]) => actual > 0 || recorded > 0
  return contents && { ...contents, sizes: new Map([...contents.sizes].filter(isUsed)) }
}

/** Without the sets that should have nothing in them. */
async function recordedIn(inspection: Inspection, generation: string) {
  const found = await inspection.recorded(generation)
  return found && new Map([...found.sizes].filter(([, recorded]) => recorded > 0))
}

function recordedOf(sizes: ReadonlyMap<string, Size>): ReadonlyMap<string, number> {
  return new Map([...sizes].flatMap(([set, { recorded }]) => (recorded > 0 ? [[set, recorded]] : [])))
}

/** All that is in a generation; undefined when it is not there. */
export async function contentOf(store: ReadModelStore, generation: string) {
  const { sizes } = (await sizesOf(store.inspection, generation)) ?? {}
  expect(await recordedIn(store.inspection, generation)).toEqual(sizes && recordedOf(sizes))
  if (sizes === undefined) return undefined
  const sets = new Map<string, ReadonlyMap<string, string>>()
  for (const set of [...sizes.keys(), ...textSets]) sets.set(set, await itemsIn(store, generation, set))
  return { checkpoints: await store.generations.checkpoints(generation), sizes, sets }
}

/** Everything in a version of which these are generations. */
export async function versionContent(store: ReadModelStore, ...generations: string[]) {
  return {
    active: await store.generations.active(),
    all: await store.generations.all(),
    contents: await Promise.all(generations.map((name) => contentOf(store, name))),
  }
}

/** Nothing of a generation is there any more, and nothing can be applied to it. */
export async function expectGone({ reads, projection, generations, inspection }: ReadModelStore, name: string) {
  expect((await generations.all()).map((generation) => generation.name)).not.toContain(name)
  const answers: Promise<unknown>[] = [
    generations.checkpoints(name),
    projection.load(name, { partition: 0, streams: ['1'], keys: ['k'], waiting: ['0/1'] }),
    inspection.contents(name),
    inspection.recorded(name),
    ...['seats', 'seats:n=', ...textSets].map((set) => inspection.scan(name, set, undefined, 10)),
    ...['seats', ...textSets].map((set) => inspection.find(name, set, ['1'])),
  ]
  expect(await Promise.all(answers)).toEqual(answers.map(() => undefined))
  const proof = { active: (await generations.active())?.name, checkpoints: new Map(), isComplete: true }
  expect(await reads.find(name, { collection: 'seats', id: 1 })).toEqual({ proof, document: undefined })
  for (const index of [undefined, 'a', at('7')]) {
    const page = await reads.page(name, { collection: 'seats', ...under(index), after: 0, limit: 10 })
    expect(page).toEqual({ proof, documents: '', count: 0, last: undefined })
  }
  const counts = await reads.count(name, { collection: 'seats', indexKeys: ['a', at('7')] })
  expect(counts).toEqual({ proof, counts: [0, 0] })
  const query = { stream: '1', key: { partition: 0, key: 'k' }, versions: { first: 1, last: 2 } }
  const nothing = { row: undefined, document: undefined, parked: undefined, decided: undefined, entries: new Map() }
  expect(await reads.load(name, query)).toEqual({ proof, ...nothing })
  expect(await reads.load(name, { document: { collection: 'bookings', id: 5 } })).toEqual({ proof, ...nothing })
  expect(await projection.apply(name, firstBatch())).toEqual({ outcome: 'generation_gone' })
}
