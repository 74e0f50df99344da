import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/lib/errors.ts'
import { type Lag, LagMeter } from '../../src/projector/lag-meter.ts'
import { startOfPartition } from '../../src/read-models/checkpoint.ts'
import type { Look } from '../../src/read-models/tracker.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A log of two partitions that ends at `ends`, and read models that are at `next`. */
function open() {
  const scene = {
    ends: [0, 0],
    next: [0, 0],
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
  const look = async (): Promise<Look> => {
    if (scene.areReadModels === 'away') throw new ServiceError('read_model_unavailable', 'away')
    if (scene.areReadModels === 'not started') return { active: undefined, checkpoints: undefined }
    const active = { name: 'first', logId: scene.logId, continues: undefined }
    const checkpoints = new Map(scene.next.map((next, partition) => [partition, { ...startOfPartition, next }]))
    return { active, checkpoints: scene.areReadModels === 'gone' ? undefined : checkpoints }
  }
  const looks: { lag: Lag; atMs: number }[] = []
  const meter = new LagMeter({ log, tracker: { look }, looked: (lag, atMs) => looks.push({ lag, atMs }) })
  return { scene, log, meter, looks }
}

const second = () => vi.advanceTimersByTimeAsync(1000)

/** Events and seconds behind, by partition; why there are none, where there are none. */
function behind({ lag }: LagMeter): string | [number, number][] {
  if (lag.status === 'unknown') return lag.reason
  return lag.partitions.map(({ events, seconds }) => [events, seconds])
}

describe('the lag', () => {
  it('is told for each partition in events and in seconds, with what became of the records', async () => {
    const { scene, meter } = open()
    Object.assign(scene, { ends: [5, 3], next: [5, 0] })
    await second()
    expect(behind(meter)).toEqual([
      [0, 0],
      [3, 0],
    ])
    Object.assign(scene, { ends: [8, 3], next: [5, 3] })
    await second()
    await second()
    expect(behind(meter)).toEqual([
      [3, 1],
      [0, 0],
    ])
    const partitions = [{ checkpoint: { next: 5, counts: startOfPartition.counts } }, { checkpoint: { next: 3 } }]
    expect(meter.lag).toMatchObject({ status: 'known', generation: 'first', partitions })
    await meter.close()
  })

  it('is none for records that were applied while it looked', async () => {
    const { scene, meter } = open()
    scene.ends = [7, 0]
    scene.answered = () => {
      scene.next = [9, 0] // appended and applied after the log has answered
    }
    await second()
    expect(behind(meter)).toEqual([
      [0, 0],
      [0, 0],
    ])
    await meter.close()
  })

  it.each<[string, Partial<ReturnType<typeof open>['scene']>, boolean, boolean]>([
    ['The event log does not answer.', { isLogAway: true }, false, true],
    ['away', { areReadModels: 'away' }, true, false],
    ['no read models have been started', { areReadModels: 'not started' }, true, true],
    ['the read models are made from another log', { logId: 'other log' }, true, true],
    ['the read models are gone', { areReadModels: 'gone' }, true, true],
  ])('is unknown, not 0 and not the last one: %s', async (reason, change, logAnswers, readModelsAnswer) => {
    const { scene, meter } = open()
    scene.ends = [5, 0]
    await second()
    expect(meter.lag.status).toBe('known')
    Object.assign(scene, change)
    await second()
    expect(meter.lag).toEqual({ status: 'unknown', reason, logAnswers, readModelsAnswer })
    await meter.close()
  })

  it('goes on from what was seen before when the log or the read models come back', async () => {
    const { scene, meter } = open()
    scene.ends = [5, 0]
    await second()
    scene.areReadModels = 'away'
    await second()
    scene.areReadModels = 'there'
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
