import { describe, expect, it } from 'vitest'
import type { Offset } from '../../src/event-log/event-log.ts'
import { bad, discard, expected, outcome, pet, project } from './discarding.ts'
import type { Spec } from './log-model.ts'

const behind = 'an earlier event of this subject is parked'
const unknownVersion = 'version 9 of PetCreated is not known'
const taken = (id: number) => `id ${id} exists under another event id`

const cases: {
  what: string
  log: Spec[]
  pets: Record<number, string>
  parked: [Offset, string][]
  dropped: number
}[] = [
  {
    what: 'the only one parked: the next of its subject is applied again',
    log: [bad('5'), discard('5', 0), pet(5)],
    pets: { 5: 'event 5' },
    parked: [],
    dropped: 2,
  },
  {
    what: 'the first: those behind it are applied, in order',
    log: [bad('5'), pet(5, 'first'), pet(5, 'second'), pet(6), discard('5', 0)],
    pets: { 5: 'first', 6: 'event 6' },
    parked: [[2, taken(5)]],
    dropped: 2,
  },
  {
    what: 'the first: those behind it up to one that cannot be read, and those behind that stay',
    log: [bad('5'), pet(5), bad('5'), pet(5, 'later'), discard('5', 0)],
    pets: { 5: 'event 5' },
    parked: [
      [2, unknownVersion],
      [3, behind],
    ],
    dropped: 2,
  },
  {
    what: 'one after the other, until none is left',
    log: [bad('5'), bad('5'), pet(5), discard('5', 0), discard('5', 1), pet(5, 'new')],
    pets: { 5: 'event 5' },
    parked: [[5, taken(5)]],
    dropped: 4,
  },
  {
    what: 'one in the middle: what stands before it still holds up the others',
    log: [bad('5'), pet(5, 'first'), pet(5, 'second'), discard('5', 1)],
    pets: {},
    parked: [
      [0, unknownVersion],
      [2, behind],
    ],
    dropped: 2,
  },
  {
    what: 'a pet whose id was taken: what was behind it has the same trouble',
    log: [pet(5), pet(5, 'a'), pet(5, 'b'), discard('5', 1)],
    pets: { 5: 'event 5' },
    parked: [[2, taken(5)]],
    dropped: 2,
  },
  {
    what: 'the same event twice behind it: applied once',
    log: [bad('5'), pet(5), pet(5), discard('5', 0)],
    pets: { 5: 'event 5' },
    parked: [],
    dropped: 3,
  },
  {
    what: 'an event again behind another one about its pet: it is the same event after all',
    log: [pet(5), pet(5, 'another'), pet(5), discard('5', 1)],
    pets: { 5: 'event 5' },
    parked: [],
    dropped: 3,
  },
  {
    what: 'twice: the second time has nothing to do',
    log: [bad('5'), bad('5'), discard('5', 0), discard('5', 0)],
    pets: {},
    parked: [[1, unknownVersion]],
    dropped: 3,
  },
  {
    what: 'of what is not parked: nothing is left out',
    log: [pet(5), discard('5', 0), discard('7', 3), discard('5', 9)],
    pets: { 5: 'event 5' },
    parked: [],
    dropped: 3,
  },
  {
    what: 'of another subject than the one parked there',
    log: [bad('5'), bad('6'), discard('6', 0), discard('5', 1)],
    pets: {},
    parked: [
      [0, unknownVersion],
      [1, unknownVersion],
    ],
    dropped: 2,
  },
  {
    what: 'that was to discard another, which nobody can say: what waits behind both follows once both are gone',
    log: [bad('5'), bad('5', 'EventDiscarded'), pet(5), discard('5', 0), discard('5', 1), pet(6)],
    pets: { 5: 'event 5', 6: 'event 6' },
    parked: [],
    dropped: 4,
  },
  {
    what: 'before the event comes that it names',
    log: [discard('5', 1), bad('5')],
    pets: {},
    parked: [[1, unknownVersion]],
    dropped: 1,
  },
]

describe.each(cases)('an event is discarded: $what', ({ log, pets, parked, dropped }) => {
  const splits = [[], [1, 2, 3, 4, 5], ...log.map((_, at) => [at])]

  it('whatever the batches, and whether projectors come and go', async () => {
    for (const cuts of splits) {
      for (const restarts of [[], cuts]) {
        const found = await outcome(await project(log, cuts, restarts))
        expect(found.pets).toEqual(pets)
        expect(found.parked.map(({ offset, reason }) => [offset, reason])).toEqual(parked)
        expect(found.counts).toMatchObject({ applied: Object.keys(pets).length, dropped, parked: parked.length })
        expect(found).toEqual(expected(log))
      }
    }
  })
})
