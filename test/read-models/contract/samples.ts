import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { type Checkpoint, startOfPartition } from '../../../src/read-models/checkpoint.ts'
import { eventTag } from '../../../src/read-models/event-tag.ts'
import type { DecidedKeys, ParkedEvents } from '../../../src/read-models/inspection.ts'
import type { KeyDecision } from '../../../src/read-models/key-decision.ts'
import type {
  Batch,
  Generation,
  Insert,
  ParkedAt,
  ParkedEvent,
  RangeAnswer,
  ReadModels,
} from '../../../src/read-models/read-models.ts'
import type { ReadModelsFixture } from './fixture.ts'

export const greatestId = Number.MAX_SAFE_INTEGER

export function newGeneration(epoch = 'epoch-1'): Generation {
  return { name: randomUUID(), epoch }
}

export function documentOf(id: number, text = ''): string {
  return `{"id":${id},"text":${JSON.stringify(text)}}`
}

export function insert(id: number, indexes: readonly string[] = [], document = documentOf(id)): Insert {
  return { id, document, tag: eventTag(`event of ${id}`), indexes }
}

export function parkedEvent(offset: number, subject: string, reason = 'data: name is missing'): ParkedEvent {
  return { offset, subject, reason, value: '{"specversion":"1.0"}' }
}

export function decision(key: string, offset: number): KeyDecision {
  return { key, offset, fingerprint: `fingerprint of ${key}`.replaceAll(' ', '-'), subject: `subject of ${key}` }
}

export interface BatchContent {
  readonly partition?: number
  readonly inserts?: readonly Insert[]
  readonly counters?: readonly (readonly [name: string, added: number])[]
  readonly parked?: readonly string[]
  readonly unparked?: readonly number[]
  readonly freed?: readonly string[]
  /** Idempotency keys that records of the batch decide. */
  readonly keys?: readonly string[]
}

/** The batch that goes on from `expected`: one record per insert and per parked subject, and a skipped one. */
export function batchAfter(
  expected: Checkpoint,
  { partition = 0, inserts = [], counters = [], parked = [], unparked = [], freed = [], keys = [] }: BatchContent = {},
): Batch {
  const next = expected.next + inserts.length + parked.length + 1
  const checkpoint = {
    next,
    last: { offset: next - 1, identity: `record ${partition}/${next - 1}` },
    applied: expected.applied + inserts.length,
    dropped: expected.dropped,
    parked: expected.parked + parked.length,
    skipped: expected.skipped + 1,
  }
  const parkedEvents = parked.map((subject, i) => parkedEvent(expected.next + i, subject))
  const decisions = keys.map((key, i) => decision(key, expected.next + i))
  const added = { inserts, counters: new Map(counters) }
  return { partition, expected, checkpoint, ...added, parked: parkedEvents, unparked, freed, decisions }
}

export function firstBatch(content: BatchContent = {}): Batch {
  return batchAfter(startOfPartition, content)
}

/** A store whose active generation is a new one. */
export async function started(fixture: ReadModelsFixture): Promise<{ store: ReadModels; generation: string }> {
  const store = await fixture.open()
  const generation = newGeneration()
  await store.start(generation, undefined)
  return { store, generation: generation.name }
}

/** Applies batches that must be accepted. */
export async function applyAll(store: ReadModels, generation: string, ...batches: Batch[]): Promise<void> {
  for (const batch of batches) expect(await store.apply(generation, batch)).toEqual({ outcome: 'applied' })
}

export async function idsIn(store: ReadModels, generation: string, index?: string): Promise<number[]> {
  return idsOf(await store.range(generation, { index, from: 1, limit: 10_000 }))
}

export function idsOf({ documents }: Pick<RangeAnswer, 'documents'>): number[] {
  return (JSON.parse(`[${documents}]`) as { id: number }[]).map(({ id }) => id)
}

export type Found = Pick<RangeAnswer, 'documents' | 'count' | 'last'>

/** What a range has found, without its proof. */
export function foundIn({ documents, count, last }: Found): Found {
  return { documents, count, last }
}

export function found(documents: readonly string[], last?: number): Found {
  return { documents: documents.join(','), count: documents.length, last }
}

/** The answer to a range of an index that nothing was added to. */
export const nothing = { ...found([]), held: 0, added: 0 }
export const nowhere: ReadonlyMap<number, Checkpoint> = new Map()

export function checkpointsAfter(...batches: Batch[]): ReadonlyMap<number, Checkpoint> {
  return new Map(batches.map(({ partition, checkpoint }) => [partition, checkpoint]))
}

/** Nothing of a generation is there any more, and nothing can be applied to it. */
export async function expectGone(store: ReadModels, name: string): Promise<void> {
  const whole = { from: 1, limit: 10 }
  expect((await store.generations()).map((generation) => generation.name)).not.toContain(name)
  expect(await store.checkpoints(name)).toBeUndefined()
  expect(await store.partitionStates(name, [0])).toBeUndefined()
  expect(await store.contents(name)).toBeUndefined()
  expect(await store.entries(name, whole)).toBeUndefined()
  expect(await store.decisions(name, '', 10)).toBeUndefined()
  expect(await store.decision(name, 'k')).toBeUndefined()
  expect(await store.parkedUnder(name, 0, 'subject')).toEqual([])
  expect(await store.parked(name, '', 10)).toBeUndefined()
  expect(await store.parkedAt(name, { partition: 0, offset: 0 })).toBeUndefined()
  for (const index of [undefined, 'a']) {
    const { held, added, moment, ...answer } = await store.range(name, { ...whole, index })
    expect([foundIn(answer), held, added, moment.checkpoints.size]).toEqual([found([]), 0, 0, 0])
  }
  expect(await store.apply(name, firstBatch())).toEqual({ outcome: 'generation_gone' })
}

/** All that the port shows of a generation. */
export async function contents(store: ReadModels, generation: string, indexes: readonly string[] = ['a', 'b']) {
  const all = { from: 1, limit: 10_000 }
  const collections = [undefined, ...indexes]
  return {
    active: await store.active(),
    checkpoints: await store.checkpoints(generation),
    states: await store.partitionStates(generation, [0, 1, 2, 10]),
    decisions: await Promise.all(['k', 'l', 'm'].map((key) => store.decision(generation, key))),
    documents: await store.range(generation, all),
    indexes: await Promise.all(indexes.map((index) => store.range(generation, { ...all, index }))),
    contents: await store.contents(generation),
    parkedUnder: await Promise.all(['1', 'é🐕'].map((subject) => store.parkedUnder(generation, 0, subject))),
    parked: await allParked(store, generation),
    entries: await Promise.all(collections.map((index) => store.entries(generation, { ...all, index }))),
    keys: new Map((await allDecisions(store, generation))?.map((decision) => [decision.key, decision])),
  }
}

/** Undefined when the generation is not there. */
export async function allDecisions(store: ReadModels, generation: string, limit = 1000) {
  const all: KeyDecision[] = []
  for (let from: string | undefined = ''; from !== undefined; ) {
    const page: DecidedKeys | undefined = await store.decisions(generation, from, limit)
    if (page === undefined) return undefined
    all.push(...page.decisions)
    from = page.next
    if (all.length > 100_000) throw new Error('this does not end')
  }
  return all
}

/** By partition and offset; undefined when the generation is not there. */
export async function allParked(store: ReadModels, generation: string, limit = 1000) {
  const all: ParkedAt[] = []
  for (let from: string | undefined = ''; from !== undefined; ) {
    const part: ParkedEvents | undefined = await store.parked(generation, from, limit)
    if (part === undefined) return undefined
    expect(part.events.length).toBeLessThanOrEqual(limit)
    all.push(...part.events)
    from = part.next
    if (all.length > 100_000) throw new Error('this does not end')
  }
  return all.sort((a, b) => a.partition - b.partition || a.offset - b.offset)
}
