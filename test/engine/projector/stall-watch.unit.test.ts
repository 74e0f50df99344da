import { describe, expect, it } from 'vitest'
import type { Lag } from '../../../src/engine/projector/lag-meter.ts'
import { StallWatch } from '../../../src/engine/projector/stall-watch.ts'
import { startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'

const away: Lag = { status: 'unknown', reason: 'away', logAnswers: false, readModelsAnswer: true }

/** Partitions at these positions, each with an end of 10. */
function lag(positions: readonly number[], generation = 'first'): Lag {
  const partitions = positions.map((next, partition) => {
    return { partition, events: 10 - next, seconds: 0, checkpoint: { ...startOfPartition, next } }
  })
  return { status: 'known', generation, partitions }
}

const at = (next: number, generation?: string) => lag([next], generation)

interface Look {
  readonly lag: Lag
  readonly assigned: readonly number[]
  readonly takenUp: number
}

/** The same seen once a second for some seconds. */
function seen(lag: Lag, seconds: number, assigned: readonly number[] = [0], takenUp = 0): Look[] {
  return Array(seconds).fill({ lag, assigned, takenUp })
}

/** The seconds in which there is a stall, by a watch of 30 s. */
function stalledIn(looks: readonly Look[]): number[] {
  const projector = { assignment: [] as readonly number[], pages: 0, takenUp: () => projector.pages }
  const watch = new StallWatch(30_000, projector)
  return looks.flatMap(({ lag, assigned, takenUp }, second) => {
    projector.assignment = assigned
    projector.pages = takenUp
    watch.look(lag, second * 1000)
    return watch.stalls.length > 0 ? [second] : []
  })
}

const seconds = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
const [stuck, stuckAgain, begunAnew] = [seen(at(4), 40), seen(at(4), 31), [...seconds(30, 39), 71]]
const madeAnew = [...seen(at(4), 1), ...seen(at(4), 9, [])]

describe('a stall', () => {
  it.each<[string, Look[], number[]]>([
    ['is work and no progress for the whole time', seen(at(4), 32), [30, 31]],
    ['ends when the position moves', [...stuck, ...seen(at(5), 1), ...stuckAgain], begunAnew],
    ['ends when the position goes back', [...stuck, ...seen(at(3), 1), ...stuckAgain], begunAnew],
    ['ends when another generation is active', [...stuck, ...seen(at(4, 'second'), 1), ...stuckAgain], begunAnew],
    ['ends when log or read models are away', [...stuck, ...seen(away, 1), ...stuckAgain], begunAnew],
    [
      'ends when a discard takes up more parked events',
      [...stuck, ...seen(at(4), 31, [0], 1)],
      [...seconds(30, 39), 70],
    ],
    ['ends when there is no work', [...stuck, ...seen(at(10), 1), ...stuckAgain], begunAnew],
    ['is not having nothing to do', seen(at(10), 100), []],
    ['is not that log or read models are away', seen(away, 100), []],
    ['is not of a partition that is not to be projected', [...seen(at(4), 100, [1]), ...stuckAgain], [130]],
    ['is not left by a partition that was given away for good', [...seen(at(4), 10), ...seen(at(4), 100, [])], []],
    ['is not hidden by a consumer that is made anew over and over', Array(4).fill(madeAnew).flat(), seconds(30, 39)],
  ])('%s', (_, looks, stalled) => expect(stalledIn(looks)).toEqual(stalled))

  it('reports each stalled partition separately, with its position and duration', () => {
    const watch = new StallWatch(30_000, { assignment: [0, 1, 2], takenUp: () => 0 })
    for (let second = 0; second <= 30; second++) watch.look(lag([4, second % 10, 5]), second * 1000)
    expect(watch.stalls).toEqual([
      { partition: 0, next: 4, events: 6, seconds: 30 },
      { partition: 2, next: 5, events: 5, seconds: 30 },
    ])
  })
})
