import fc from 'fast-check'
import { documentOf, greatestId } from './samples.ts'

const id = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: greatestId - 4, max: greatestId }))
const indexes = fc.subarray(['a', 'b'])
const counters = fc.uniqueArray(fc.tuple(fc.constantFrom('c', 'd é', ''), fc.integer({ min: 1, max: 9 })), {
  selector: ([name]) => name,
})

const inserts = fc.uniqueArray(
  fc.record({ id, indexes, event: fc.nat(3) }).map(({ id, indexes, event }) => ({
    id,
    indexes,
    document: documentOf(id, `event ${event}`),
    tag: `tag-${event}-------`.slice(0, 12),
  })),
  { selector: ({ id }) => id, maxLength: 6 },
)

/** A generation by its state: `other` is one that was replaced, if there is one. */
const on = fc.constantFrom('active', 'active', 'active', 'building', 'building', 'other')

const apply = fc.record({
  kind: fc.constant('apply' as const),
  on,
  partition: fc.constantFrom(0, 0, 0, 1, 10),
  inserts,
  counters,
  keys: fc.uniqueArray(fc.constantFrom('k', 'l', 'm'), { maxLength: 2 }),
  parked: fc.array(fc.constantFrom('1', '0/1', 'é🐕'), { maxLength: 3 }),
  /** Of what is parked in the partition: each is unparked, parked again, or left. */
  retried: fc.array(fc.constantFrom('unpark', 'unpark', 'park again', 'leave'), { minLength: 2, maxLength: 8 }),
  expected: fc.constantFrom('stored', 'stored', 'stored', 'stale', 'other counts', 'start'),
  deliveries: fc.constantFrom(1, 1, 2),
})

const range = fc.record({
  kind: fc.constant('range' as const),
  on,
  index: fc.constantFrom(undefined, 'a', 'b', 'none'),
  from: id,
  to: fc.option(id, { nil: undefined }),
  limit: fc.integer({ min: 1, max: 10 }),
})

const start = fc.record({
  kind: fc.constant('start' as const),
  instead: fc.constantFrom('active', 'none', 'other'),
})

const build = fc.record({
  kind: fc.constant('build' as const),
  epoch: fc.constantFrom('epoch', 'epoch', 'another'),
})

/** `take over`: what is being built, or begun to be, is brought where the active one is, and activated. */
const upkeep = fc.record({
  kind: fc.constantFrom('take over', 'take over', 'activate', 'remove', 'prune'),
  on: fc.constantFrom('building', 'building', 'building', 'active', 'other'),
})

export const step = fc.oneof(
  { weight: 12, arbitrary: apply },
  { weight: 3, arbitrary: range },
  { weight: 1, arbitrary: start },
  { weight: 3, arbitrary: build },
  { weight: 4, arbitrary: upkeep },
)
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
export type ApplyStep = Extract<Step, { kind: 'apply' }>
