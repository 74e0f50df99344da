import { describe, expect, it } from 'vitest'
import { Figures, samplesMax } from '../../../src/engine/console/figures.ts'
import { Distribution } from '../../../src/engine/lib/distribution.ts'
import type { Lag } from '../../../src/engine/projector/lag-meter.ts'
import { noRecords } from '../../../src/engine/read-models/stored-texts.ts'

function known(next: number, events: number, more: object = {}, parked = 0): Lag {
  const checkpoint = { next, last: null, counts: { ...noRecords, parked } }
  return {
    status: 'known',
    generation: 'one',
    partitions: [{ partition: 0, events, seconds: events / 10, checkpoint }],
    ...more,
  }
}

/** A process whose clock and figures the test sets. */
function sources() {
  const seconds = new Distribution([0.001, 0.01, 0.1])
  const byStatus = new Map<number, number>()
  const state = { lag: known(100, 0) as Lag, at: 1_000_000 }
  const errors = new Map<string, number>()
  const figures = new Figures({
    lag: state,
    traffic: { counts: [{ route: '/', method: 'GET', byStatus, seconds }], errors },
    now: () => state.at,
  })
  function lookAt(lag: Lag): void {
    Object.assign(state, { lag, at: state.at + 5000 })
    figures.take()
  }
  return { state, figures, seconds, byStatus, errors, lookAt }
}
const happened = ({ marks }: Figures) => marks.map(({ what }) => what)

describe('the figures of a process', () => {
  it('are rates between two looks', () => {
    const { figures, seconds, byStatus, errors, lookAt } = sources()
    byStatus.set(200, 90).set(503, 10)
    for (let i = 0; i < 100; i++) seconds.add(i < 98 ? 0.005 : 0.05)
    errors.set('read_model_behind', 10)
    lookAt(known(150, 25))
    expect(figures.samples).toEqual([
      {
        number: 1,
        at: 1_005_000,
        ...{ appended: 15, projected: 10, lagEvents: 25, lagSeconds: 2.5, requests: 20 },
        p50: expect.closeTo(1 + (9 * 50) / 98),
        p99: expect.closeTo(10 + 90 / 2),
        errors: { read_model_behind: 10 },
      },
    ])
    lookAt(known(175, 0))
    expect(figures.samples[1]).toMatchObject({ appended: 0, projected: 5, requests: 0, p50: undefined, errors: {} })
  })

  it('are none where nothing is known, and where positions went back with another generation', () => {
    const { figures, lookAt } = sources()
    lookAt({ status: 'unknown', reason: 'away', logAnswers: false, readModelsAnswer: true })
    lookAt(known(200, 0))
    for (const sample of figures.samples) expect(sample).toMatchObject({ appended: undefined, projected: undefined })
    expect(figures.samples[0]).not.toHaveProperty('lagEvents')
    lookAt(known(10, 200, { generation: 'two' }))
    expect(figures.samples[2]).toMatchObject({ appended: 2, projected: undefined })
  })

  it('tell what happened, once', () => {
    const { figures, lookAt } = sources()
    lookAt(known(100, 0, { rebuildEvents: 100 }))
    lookAt(known(100, 0, { rebuildEvents: 50 }))
    lookAt(known(100, 0, { generation: 'two' }))
    lookAt(known(0, 100, { generation: 'three' }))
    lookAt(known(103, 0, { generation: 'three' }, 3))
    for (const readModelsAnswer of [true, false, false])
      lookAt({ status: 'unknown', reason: 'away', logAnswers: false, readModelsAnswer })
    lookAt(known(103, 0, { generation: 'three' }, 3))
    expect(happened(figures)).toEqual([
      'this process started',
      'a rebuild began',
      'a rebuild took over',
      'the read models were lost, and begun anew',
      '3 parked',
      'the event log went away',
      'the read models went away',
      'all answers again',
    ])
  })

  it('are given from number to number, whatever the clock was set to', () => {
    const { state, figures, lookAt } = sources()
    for (let i = 0; i < samplesMax; i++) lookAt(known(100, 0))
    state.at -= 3_600_000
    lookAt(known(100, 0))
    expect(figures.after(samplesMax).map(({ at }) => at)).toEqual([state.at])
    expect(figures.after(0)).toHaveLength(samplesMax)
  })

  it('stay as many, for however long', () => {
    const { figures, lookAt } = sources()
    for (let i = 0; i < 20_000; i++) lookAt(known(100, 0, { generation: String(i) }))
    expect(figures.samples).toHaveLength(samplesMax)
    expect(figures.samples[0]?.at).toBe(1_000_000 + 5000 * (20_000 - samplesMax + 1))
    expect(figures.marks).toHaveLength(100)
  })
})
