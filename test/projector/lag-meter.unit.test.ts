import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/lib/errors.ts'
import { type Lag, LagMeter } from '../../src/projector/lag-meter.ts'
import { ScriptedStore } from '../read-models/scripted-store.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open() {
  const store = new ScriptedStore()
  const log = {
    epoch: 'epoch',
    held: [0, 0],
    away: false,
    asked: 0,
    async ends() {
      this.asked++
      if (this.away) throw new ServiceError('event_log_unavailable', 'The event log does not answer.')
      return this.held
    },
  }
  const looks: { lag: Lag; atMs: number }[] = []
  const meter = new LagMeter({ log, store, looked: (lag, atMs) => looks.push({ lag, atMs }) })
  return { store, log, meter, looks }
}

const second = () => vi.advanceTimersByTimeAsync(1000)

/** Events and seconds behind, by partition; why there are none, where there are none. */
function behind({ lag }: LagMeter): string | [number, number][] {
  if (lag.status === 'unknown') return lag.reason
  return lag.partitions.map(({ events, seconds }) => [events, seconds])
}

describe('the lag', () => {
  it('is told for each partition in events and in seconds', async () => {
    const { store, log, meter } = open()
    log.held = [5, 3]
    store.next.set(0, 5)
    await second()
    expect(behind(meter)).toEqual([
      [0, 0],
      [3, 0],
    ])
    log.held = [8, 3]
    store.next.set(1, 3)
    await second()
    await second()
    expect(behind(meter)).toEqual([
      [3, 1],
      [0, 0],
    ])
    await meter.close()
  })

  it('comes with what became of the records', async () => {
    const { store, log, meter } = open()
    log.held = [1, 0]
    store.next.set(0, 1)
    await second()
    expect(meter.lag).toMatchObject({
      status: 'known',
      generation: 'first',
      partitions: [{ checkpoint: { next: 1, applied: 0 } }, { checkpoint: { next: 0 } }],
    })
    await meter.close()
  })

  it('is none for records that were applied while it looked', async () => {
    const { store, log, meter } = open()
    log.ends = async () => {
      store.next.set(0, 9) // behind the answer: appended and applied after it
      return [7, 0]
    }
    await second()
    expect(behind(meter)).toEqual([
      [0, 0],
      [0, 0],
    ])
    await meter.close()
  })

  it.each<[string, (world: ReturnType<typeof open>) => void, boolean, boolean]>([
    ['The event log does not answer.', ({ log }) => Object.assign(log, { away: true }), false, true],
    ['away', ({ store }) => store.disconnect(), true, false],
    ['no read models have been started', ({ store }) => store.flush(), true, true],
    ['the read models are made from another log', ({ store }) => store.start('other', 'other epoch'), true, true],
    [
      'the read models are gone',
      ({ store }) => Object.assign(store, { checkpoints: async () => undefined }),
      true,
      true,
    ],
  ])('is unknown, not 0 and not the last one: %s', async (reason, change, logAnswers, readModelsAnswer) => {
    const world = open()
    world.log.held = [5, 0]
    await second()
    expect(world.meter.lag.status).toBe('known')
    change(world)
    await second()
    expect(world.meter.lag).toEqual({ status: 'unknown', reason, logAnswers, readModelsAnswer })
    await world.meter.close()
  })

  it('goes on from what was seen before when the log or the read models come back', async () => {
    const { store, log, meter } = open()
    log.held = [5, 0]
    await second()
    store.disconnect()
    await second()
    store.connect()
    await second()
    expect(behind(meter)).toEqual([
      [5, 2],
      [0, 0],
    ])
    await meter.close()
  })

  it('is unknown before the first look, which does not wait for the second to pass', async () => {
    const { meter } = open()
    expect(meter.lag).toEqual({ status: 'unknown', reason: 'not looked at yet' })
    await vi.advanceTimersByTimeAsync(0)
    expect(meter.lag.status).toBe('known')
    await meter.close()
  })

  it('is looked at once at a time, and no more once closed', async () => {
    const { log, meter, looks } = open()
    await second()
    const before = log.asked
    const { promise, resolve } = Promise.withResolvers<number[]>()
    log.ends = async () => {
      log.asked++
      return promise
    }
    for (let i = 0; i < 5; i++) await second()
    expect(log.asked).toBe(before + 1)
    let closed = false
    const closing = meter.close().then(() => {
      closed = true
    })
    await second()
    expect(closed).toBe(false)
    resolve([0, 0])
    await closing
    const count = looks.length
    for (let i = 0; i < 5; i++) await second()
    expect([log.asked, looks.length]).toEqual([before + 1, count])
  })

  it('is shown to whoever watches, with the time of the look', async () => {
    const { meter, looks } = open()
    await second()
    await second()
    expect(looks.map(({ lag }) => lag.status)).toEqual(['known', 'known', 'known'])
    expect((looks[2]?.atMs ?? 0) - (looks[1]?.atMs ?? 0)).toBe(1000)
    await meter.close()
  })
})
