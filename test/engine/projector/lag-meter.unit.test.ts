import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { type Lag, LagHistory, LagMeter } from '../../../src/engine/projector/lag-meter.ts'
import type { Look as StoreLook } from '../../../src/engine/read-models/ports/generations.ts'
import { startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A log of two partitions that ends at `ends`, and read models that are at `next`. */
function open() {
  const scene = {
    ends: [0, 0],
    next: [0, 0],
    building: undefined as number[] | undefined,
    logIdOfBuilding: 'log',
    logId: 'log',
    isLogAway: false,
    areReadModels: 'there' as 'there' | 'away' | 'not started' | 'gone',
    /** Called once the log has answered. */
    answered: () => {},
    asked: 0,
  }
  const log = {
    logId: 'log',
    endOffsets: async () => {
      scene.asked++
      if (scene.isLogAway) throw new ServiceError('event_log_unavailable', 'The event log does not answer.')
      const ends = [...scene.ends]
      scene.answered()
      return ends
    },
  }
  const look = async (): Promise<StoreLook> => {
    if (scene.areReadModels === 'away') throw new ServiceError('read_model_unavailable', 'away')
    if (scene.areReadModels === 'not started')
      return { active: undefined, checkpoints: undefined, isComplete: true, building: undefined }
    const active = { name: 'first', logId: scene.logId, continues: undefined }
    const at = (next: number[]) =>
      new Map(next.map((each, partition) => [partition, { ...startOfPartition, next: each }]))
    const building = { name: 'second', logId: scene.logIdOfBuilding, checkpoints: at(scene.building ?? []) }
    return {
      active,
      checkpoints: scene.areReadModels === 'gone' ? undefined : at(scene.next),
      isComplete: true,
      building: scene.building && building,
    }
  }
  const looks: { lag: Lag; atMs: number }[] = []
  const meter = new LagMeter({ log, tracker: { look }, looked: (lag, atMs) => looks.push({ lag, atMs }) })
  return { scene, log, meter, looks }
}

const second = () => vi.advanceTimersByTimeAsync(1000)

/** How far behind each partition is; why that is not known, where it is not. */
function behind({ lag }: LagMeter): string | string[] {
  if (lag.status === 'unknown') return lag.reason
  return lag.partitions.map(({ events, seconds }) => `${events} for ${seconds} s`)
}

describe('the lag', () => {
  it('is told for each partition in events and in seconds, with what became of the records', async () => {
    const { scene, meter } = open()
    Object.assign(scene, { ends: [5, 3], next: [5, 0] })
    await second()
    expect(behind(meter)).toEqual(['0 for 0 s', '3 for 0 s'])
    Object.assign(scene, { ends: [8, 3], next: [5, 3] })
    await second()
    await second()
    expect(behind(meter)).toEqual(['3 for 1 s', '0 for 0 s'])
    const partitions = [{ checkpoint: { next: 5, counts: startOfPartition.counts } }, { checkpoint: { next: 3 } }]
    expect(meter.lag).toMatchObject({ status: 'known', generation: 'first', partitions })
  })

  it('is told for a rebuild of this log while there is one', async () => {
    const { scene, meter } = open()
    Object.assign(scene, { ends: [5, 3], next: [5, 3] })
    await second()
    expect(meter.lag).toMatchObject({ rebuildEvents: undefined })
    scene.building = [1, 3]
    await second()
    expect(meter.lag).toMatchObject({ rebuildEvents: 4 })
    scene.logIdOfBuilding = 'another log'
    await second()
    expect(meter.lag).toMatchObject({ rebuildEvents: undefined })
  })

  it('is none for records that were applied while it looked', async () => {
    const { scene, meter } = open()
    scene.ends = [7, 0]
    scene.answered = () => Object.assign(scene, { next: [9, 0] }) // appended and applied after the log has answered
    await second()
    expect(behind(meter)).toEqual(['0 for 0 s', '0 for 0 s'])
  })

  it.each<[string, Partial<ReturnType<typeof open>['scene']>, boolean, boolean]>([
    ['The event log does not answer.', { isLogAway: true }, false, true],
    ['away', { areReadModels: 'away' }, true, false],
    ['no read models have been started', { areReadModels: 'not started' }, true, true],
    ['the read models belong to another log', { logId: 'other log' }, true, true],
    ['the read models are gone', { areReadModels: 'gone' }, true, true],
  ])('is unknown, not 0 and not the last one: %s', async (reason, change, logAnswers, readModelsAnswer) => {
    const { scene, meter } = open()
    scene.ends = [5, 0]
    await second()
    expect(meter.lag.status).toBe('known')
    Object.assign(scene, change)
    await second()
    expect(meter.lag).toEqual({ status: 'unknown', reason, logAnswers, readModelsAnswer })
  })

  it('continues from what it saw before when the log or the read models come back', async () => {
    const { scene, meter } = open()
    scene.ends = [5, 0]
    await second()
    scene.areReadModels = 'away'
    await second()
    scene.areReadModels = 'there'
    await second()
    expect(behind(meter)).toEqual(['5 for 2 s', '0 for 0 s'])
  })

  it('is unknown before the first look, which does not wait for the second to pass', async () => {
    const { meter } = open()
    expect(meter.lag).toEqual({ status: 'unknown', reason: 'not looked at yet' })
    await vi.advanceTimersByTimeAsync(0)
    expect(meter.lag.status).toBe('known')
  })

  it('is looked at once at a time, shown with the time of the look, and no more once closed', async () => {
    const { scene, log, meter, looks } = open()
    await second()
    await second()
    expect((looks[2]?.atMs ?? 0) - (looks[1]?.atMs ?? 0)).toBe(1000)
    const before = scene.asked
    const { promise, resolve } = Promise.withResolvers<number[]>()
    log.endOffsets = async () => {
      scene.asked++
      return promise
    }
    for (let i = 0; i < 5; i++) await second()
    expect(scene.asked).toBe(before + 1)
    const closed = vi.fn()
    const closing = meter.close().then(closed)
    await second()
    expect(closed).not.toHaveBeenCalled()
    resolve([0, 0])
    await closing
    const count = looks.length
    for (let i = 0; i < 5; i++) await second()
    expect([scene.asked, looks.length]).toEqual([before + 1, count])
  })
})

interface Look {
  readonly atMs: number
  readonly end: number
  readonly next: number
}

/** A log that grows and read models that follow it, now and then set back to the beginning as a rebuild does. */
function lives(max: number): fc.Arbitrary<Look[]> {
  const isReset = fc.nat(49).map((n) => n === 0)
  const step = fc.record({ ms: fc.integer({ min: 1, max: 3000 }), appended: fc.nat(3), applied: fc.nat(3), isReset })
  return fc.array(step, { minLength: 1, maxLength: max, size: 'max' }).map((steps) => {
    let [atMs, end, next] = [0, 0, 0]
    return steps.map(({ ms, appended, applied, isReset }) => {
      atMs += ms
      end += appended
      next = isReset ? 0 : Math.min(end, next + applied)
      return { atMs, end, next }
    })
  })
}

/** Written down from the definition: since the first look at an end that the position has not reached to this day. */
function expectedMs(looks: readonly Look[]): number {
  let [reached, sinceMs] = [0, looks.at(-1)?.atMs ?? 0]
  for (const { atMs, end, next } of looks.toReversed()) {
    reached = Math.max(reached, next)
    if (end > reached) sinceMs = atMs
  }
  return (looks.at(-1)?.atMs ?? 0) - sinceMs
}

function observed(history: LagHistory, looks: readonly Look[]): number[] {
  return looks.map(({ atMs, end, next }) => history.observe(atMs, end, next))
}

describe('how long a partition has been behind', () => {
  it('is as defined, whatever is appended, applied and rebuilt', () => {
    fc.assert(
      fc.property(lives(60), (looks) => {
        const expected = looks.map((_, i) => expectedMs(looks.slice(0, i + 1)))
        expect(observed(new LagHistory(), looks)).toEqual(expected)
      }),
    )
  })

  it('of a history longer than it keeps is too long by a small part at most, and never too short', () => {
    const seenMax = 16
    fc.assert(
      fc.property(lives(200), (looks) => {
        let longest = 0
        for (const [i, ms] of observed(new LagHistory(seenMax), looks).entries()) {
          const expected = expectedMs(looks.slice(0, i + 1))
          longest = Math.max(longest, expected)
          expect(ms).toBeGreaterThanOrEqual(expected)
          expect(ms - expected).toBeLessThanOrEqual((2 * longest) / seenMax + 3000)
        }
      }),
    )
  })

  it('is exact while nothing at all is applied, however long that takes', () => {
    const looks = Array.from({ length: 5000 }, (_, i) => ({ atMs: i * 1000, end: 1 + i, next: 0 }))
    expect(observed(new LagHistory(16), looks)).toEqual(looks.map(({ atMs }) => atMs))
  })

  it('begins anew with a log that was made anew', () => {
    const looks = [9, 9, 4].map((end, second) => ({ atMs: second * 1000, end, next: 3 }))
    expect(observed(new LagHistory(), looks)).toEqual([0, 1000, 0])
  })
})
