import { describe, expect, it } from 'vitest'
import { Situation, type SituationSources } from '../../../src/engine/console/situation.ts'
import type { Lag } from '../../../src/engine/projector/lag-meter.ts'
import { noRecords } from '../../../src/engine/read-models/stored-texts.ts'

const lagOf = (seconds: number, parked = 0): Lag => ({
  status: 'known',
  generation: 'one',
  partitions: [
    { partition: 0, events: 1, seconds, checkpoint: { next: 9, last: null, counts: { ...noRecords, parked } } },
  ],
})
const away = (logAnswers: boolean, readModelsAnswer: boolean): Lag => ({
  ...{ status: 'unknown', reason: 'It is away.', logAnswers, readModelsAnswer },
})
const projector = (status: string) => ({ health: { live: () => ({ live: false, checks: { projector: { status } } }) } })

/** A process that is well but for what the test says, and a clock that it moves. */
function situationOf(ill: Partial<SituationSources>) {
  const clock = { at: 1000 }
  const sources: SituationSources = {
    lag: { lag: lagOf(0) },
    log: { warnings: [] },
    reads: { state: { status: 'up' } },
    health: { live: () => ({ live: true, checks: {} }) },
    warnings: () => [],
    publishing: () => [],
    now: () => clock.at,
    ...ill,
  }
  return { situation: new Situation(sources), clock }
}

describe('what is wrong', () => {
  it('is nothing where all is well, and where the read models are a moment behind', () => {
    for (const ill of [{}, { lag: { lag: lagOf(3) } }]) {
      const { situation } = situationOf(ill)
      situation.look()
      expect(situation.problems).toEqual([])
    }
  })

  it.each<[string, Partial<SituationSources>, RegExp]>([
    ['log_away', { lag: { lag: away(false, true) } }, /event log does not answer: It is away/],
    ['read_models_away', { lag: { lag: away(true, false) } }, /read models do not answer/],
    ['read_models_rebuilding', { reads: { state: { status: 'rebuilding' } } }, /being filled/],
    ['read_models_incomplete', { reads: { state: { status: 'incomplete' } } }, /lost something/],
    ['read_models_degraded', { reads: { state: { status: 'degraded' } } }, /Some shards/],
    ['projector_stalled', projector('stalled'), /stands still/],
    ['projector_undecodable', projector('undecodable'), /cannot be decoded/],
    ['behind', { lag: { lag: lagOf(42) } }, /42 seconds behind/],
    ['parked', { lag: { lag: lagOf(0, 1) } }, /1 event is parked/],
    ['parked', { lag: { lag: lagOf(0, 7) } }, /7 events are parked/],
    ['few Too few.', { log: { warnings: [{ code: 'few', message: 'Too few.' }] } }, /Too few/],
    ['still It stands still.', { publishing: () => [{ code: 'still', message: 'It stands still.' }] }, /stands still/],
    ['lost Lines.', { warnings: () => [{ code: 'lost', message: 'Lines.' }] }, /Lines/],
  ])('is %s, with what to do and where the runbook has it', (code, ill, what) => {
    const { situation } = situationOf(ill)
    situation.look()
    expect(situation.problems).toEqual([
      { code, what: expect.stringMatching(what), remedy: expect.any(String), runbook: expect.any(String), since: 1000 },
    ])
  })

  it('is known since it was seen first, and anew when it comes back', () => {
    const lag = { lag: lagOf(42) }
    const { situation, clock } = situationOf({ lag })
    const sinceAt = (at: number, now: Lag) => {
      clock.at = at
      lag.lag = now
      situation.look()
      return situation.problems.map(({ since }) => since)
    }
    expect(sinceAt(2000, lagOf(42))).toEqual([2000])
    expect(sinceAt(3000, lagOf(50))).toEqual([2000])
    expect(sinceAt(4000, lagOf(0))).toEqual([])
    expect(sinceAt(5000, lagOf(42))).toEqual([5000])
  })
})
