import fc from 'fast-check'
import { orderStatuses } from '../../../src/store/order.ts'
import { appendFaults } from './remote-log.ts'

function kind<K extends string>(name: K) {
  return { kind: fc.constant(name) }
}

const api = fc.constantFrom(0, 1)
const who = fc.constantFrom<(number | 'projector')[]>('projector', 0, 1)
const requestsArrive = fc.boolean()
const choice = fc.nat(100)
const messagesLost = fc.constantFrom(0, 1, 3)

/** Few keys, pets, orders and categories, so that requests meet. */
const key = fc.constantFrom<(string | undefined)[]>(undefined, 'k', 'k', 'l')
const what = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ ...kind('create'), pet: fc.constantFrom<('Rex' | 'Mia')[]>('Rex', 'Rex', 'Mia'), key }),
  },
  { weight: 3, arbitrary: fc.record({ ...kind('order'), pet: fc.nat(5), key }) },
  { weight: 2, arbitrary: fc.record({ ...kind('change'), pet: fc.nat(5), isRenamed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ ...kind('remove'), pet: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({ ...kind('update'), order: fc.nat(3), status: fc.constantFrom(...orderStatuses) }),
  },
  { weight: 2, arbitrary: fc.record({ ...kind('add category'), key }) },
  {
    weight: 2,
    arbitrary: fc.record({ ...kind('change category'), category: fc.nat(3), isRenamed: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ ...kind('remove category'), category: fc.nat(3) }) },
)
export type AskedFor = typeof what extends fc.Arbitrary<infer T> ? T : never

const waiting = {
  waitSeconds: fc.constantFrom(0, 1),
  /** For all that any client knows of. */
  withToken: fc.constantFrom(true, false, false),
  /** When the client leaves, if it does not stay for the answer. */
  leavesAfterMs: fc.option(fc.constantFrom<number[]>(1, 20), { freq: 8, nil: undefined }),
}
/** At once, with the token of the answer or without. */
const readBack = fc.option(fc.record({ api, withToken: fc.boolean() }), { nil: undefined })
const write = fc.record({ ...kind('write'), api, what, ...waiting, readBack })
export type WriteOptions = Omit<typeof write extends fc.Arbitrary<infer T> ? T : never, 'kind' | 'api' | 'what'>
export type WaitOptions = Pick<WriteOptions, keyof typeof waiting>

const read = fc.record({
  ...kind('read'),
  api,
  operation: fc.constantFrom(
    ...(['listPets', 'listPets', 'listOrders', 'getPet', 'getOrder'] as const),
    ...(['listCategories', 'getCategory', 'listCategoryEvents'] as const),
  ),
  status: fc.constantFrom(undefined, 'sold', 'cancelled'),
  choice,
  ...waiting,
})
export type ReadOptions = Omit<typeof read extends fc.Arbitrary<infer T> ? T : never, 'kind' | 'api'>

export const foreignKinds = ['usual', 'usual', 'stale', 'newer', 'elsewhere', 'discard'] as const

export const disturbance = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ...kind('append fault'), api, fault: fc.constantFrom(...appendFaults) }) },
  { weight: 6, arbitrary: fc.record({ ...kind('foreign event'), what: fc.constantFrom(...foreignKinds), choice }) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...kind('rivals of a new stream'),
      ...{ api, choice, messagesLost, of: fc.constantFrom<('pets' | 'categories')[]>('pets', 'pets', 'categories') },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ ...kind('rivals of an order'), api, choice, pet: fc.nat(5), key, messagesLost }),
  },
  { weight: 3, arbitrary: fc.record({ ...kind('crash'), who, requestsArrive }) },
  { weight: 3, arbitrary: fc.record({ ...kind('read models out of reach'), who, ms: fc.constantFrom(20, 300, 2500) }) },
  { weight: 2, arbitrary: fc.record({ ...kind('messages lost'), who, count: fc.constantFrom(1, 3) }) },
  { weight: 1, arbitrary: fc.record(kind('projector closed')) },
  { weight: 1, arbitrary: fc.record(kind('read models emptied')) },
  { weight: 1, arbitrary: fc.record(kind('generation started')) },
  { weight: 1, arbitrary: fc.record(kind('rebuild')) },
)

/** Milliseconds of virtual time before a step: often none, now and then enough for every time limit to pass. */
const pause = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 4, arbitrary: fc.nat(40) },
  { weight: 1, arbitrary: fc.constantFrom(200, 2500) },
)

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ pause, what: write }) },
  { weight: 2, arbitrary: fc.record({ pause, what: read }) },
  { weight: 2, arbitrary: fc.record({ pause, what: disturbance }) },
)
export type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

export const script = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 30, size: 'medium' }),
  /** What each request and each reply takes on its way, in turn. */
  latenciesMs: fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 12 }),
})
export type Script = typeof script extends fc.Arbitrary<infer T> ? T : never
