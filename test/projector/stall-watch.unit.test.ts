import { describe, expect, it } from 'vitest'
import type { Lag } from '../../src/projector/lag-meter.ts'
import { StallWatch } from '../../src/projector/stall-watch.ts'
import { startOfPartition } from '../../src/read-models/checkpoint.ts'

const away: Lag = { status: 'unknown', reason: 'away', logAnswers: false, readModelsAnswer: true }

/** Partition 0 at `next`, with an end of 10. */
function at(next: number, generation = 'first'): Lag {
  const checkpoint = { ...startOfPartition, next }
  return { status: 'known', generation, partitions: [{ partition: 0, events: 10 - next, seconds: 0, checkpoint }] }
}

/** A watch of 30 s, shown one look a second; tells after each whether partition 0 is stalled. */
function watch() {
  const state = { assigned: [0] as readonly number[], second: 0 }
  const stalls = new StallWatch(30_000, () => state.assigned)
  function look(lag: Lag, seconds = 1): boolean[] {
    return Array.from({ length: seconds }, () => {
      stalls.look(lag, state.second++ * 1000)
      return stalls.stalls.length > 0
    })
  }
  return { state, stalls, look }
}

const never = (count: number) => Array.from({ length: count }, () => false)

describe('a stall', () => {
  it('is work and no progress for the whole time, and says which partition, where and since when', () => {
    const { look, stalls } = watch()
    expect(look(at(4), 31)).toEqual([...never(30), true])
    expect(stalls.stalls).toEqual([{ partition: 0, next: 4, events: 6, seconds: 30 }])
  })

  it.each([
    ['the position moves', at(5)],
    ['the position goes back', at(3)],
    ['another generation is active, be it at the same position', at(4, 'second')],
    ['log or read models are away', away],
    ['there is no work', at(10)],
  ])('ends when %s, and the time begins anew', (_, change) => {
    const { look } = watch()
    look(at(4), 40)
    expect(look(change)).toEqual([false])
    expect(look(at(4), 31)).toEqual([...never(30), true])
  })

  it.each([
    ['nothing to do', at(10)],
    ['log or read models away', away],
  ])('is not %s, however long', (_, lag) => {
    expect(watch().look(lag, 100)).toEqual(never(100))
  })

  it('is not one of a partition that this process is not to project', () => {
    const { look, state } = watch()
    state.assigned = [1]
    expect(look(at(4), 100)).toEqual(never(100))
    state.assigned = [0]
    expect(look(at(4), 31)).toEqual([...never(30), true])
  })

  it('is not left behind by a partition that was given away for good', () => {
    const { look, state } = watch()
    look(at(4), 10)
    state.assigned = []
    expect(look(at(4), 100)).toEqual(never(100))
  })

  it('is not hidden by a consumer that is made anew over and over, without partitions each time', () => {
    const { look, state } = watch()
    const seen = Array.from({ length: 4 }, () => {
      state.assigned = [0]
      const first = look(at(4), 1)
      state.assigned = []
      return [...first, ...look(at(4), 9)]
    }).flat()
    expect(seen.lastIndexOf(false)).toBe(29)
  })

  it('is told for each partition by itself', () => {
    const { stalls, state } = watch()
    state.assigned = [0, 1, 2]
    for (let second = 0; second <= 30; second++) {
      const positions = [4, second % 10, 5] // 0 and 2 stand still
      const partitions = positions.map((next, partition) => {
        return { partition, events: 10 - next, seconds: 0, checkpoint: { ...startOfPartition, next } }
      })
      stalls.look({ status: 'known', generation: 'first', partitions }, second * 1000)
    }
    expect(stalls.stalls.map(({ partition }) => partition)).toEqual([0, 2])
  })
})
