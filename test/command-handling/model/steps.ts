import fc from 'fast-check'
import { statusIndex } from '../../../src/domain/read-pets.ts'
import { appendFaults } from './remote-log.ts'

function kind<K extends string>(name: K) {
  return { kind: fc.constant(name) }
}

const api = fc.constantFrom(0, 1)
const requestsArrive = fc.boolean()

/** Few keys and few pets, so that requests meet. */
const create = fc.record({
  ...kind('create'),
  api,
  key: fc.constantFrom(undefined, 'k', 'k', 'l'),
  pet: fc.constantFrom<('Rex' | 'Mia')[]>('Rex', 'Rex', 'Mia'),
  waitMs: fc.constantFrom(0, 100),
  goesAfterMs: fc.option(fc.constantFrom(1, 20), { freq: 8, nil: undefined }),
})

const read = fc.record({
  ...kind('read'),
  api,
  index: fc.constantFrom(undefined, statusIndex('available')),
  withToken: fc.boolean(),
  waitMs: fc.constantFrom(0, 300),
})

const disturbance = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ...kind('append fault'), api, fault: fc.constantFrom(...appendFaults) }) },
  { weight: 3, arbitrary: fc.record({ ...kind('crash'), api, requestsArrive }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...kind('read models out of reach'),
      of: fc.constantFrom<(number | 'projector')[]>('projector', 0, 1),
      ms: fc.constantFrom(20, 300, 2500),
    }),
  },
  { weight: 1, arbitrary: fc.record(kind('projector closed')) },
  { weight: 1, arbitrary: fc.record({ ...kind('projector killed'), requestsArrive }) },
  { weight: 1, arbitrary: fc.record(kind('read models emptied')) },
  { weight: 1, arbitrary: fc.record(kind('generation started')) },
)

/** Milliseconds of virtual time before a step: often none, now and then enough for every time limit to pass. */
const pause = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.nat(40) },
  { weight: 1, arbitrary: fc.constantFrom(200, 2500) },
)

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ pause, what: create }) },
  { weight: 2, arbitrary: fc.record({ pause, what: read }) },
  { weight: 2, arbitrary: fc.record({ pause, what: disturbance }) },
)
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

export const script = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 25, size: 'medium' }),
  /** What each request and each reply takes on its way, in turn. */
  latenciesMs: fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 12 }),
})
export type Script = typeof script extends fc.Arbitrary<infer T> ? T : never
