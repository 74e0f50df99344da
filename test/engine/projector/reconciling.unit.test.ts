import { expect, it } from 'vitest'
import { verdictOn } from '../../../src/engine/projector/reconciling.ts'
import { startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'

const log = { logId: 'log', endOffsets: async () => [1] }

/** To a projector that holds partition 0 and believes nothing yet. */
function verdict(...positions: (readonly [partition: number, next: number])[]) {
  const checkpoints = new Map(positions.map(([partition, next]) => [partition, { ...startOfPartition, next }]))
  const active = { name: 'one', logId: 'log', continues: undefined }
  return verdictOn({ active, checkpoints, isComplete: true, building: undefined }, log, [0], new Map())
}

it.each([
  ['in its partition', 0, 2],
  ['in a partition that the log does not have', 6, 1],
])('a generation that has more than the log is replaced: %s', async (_, partition, next) => {
  const reason = `partition ${partition} of the log ends before its position`
  expect(await verdict([0, 1], [partition, next])).toEqual({ instead: 'one', reason })
})

it('a generation that has what the log has is continued', async () => {
  expect(await verdict([0, 1])).toMatchObject({ generation: 'one' })
})

it('one that is damaged is neither gone on with nor replaced here, where nothing would pause', async () => {
  const active = { name: 'one', logId: 'log', continues: undefined }
  for (const checkpoints of [undefined, new Map()]) {
    const look = { active, checkpoints, isComplete: false, building: undefined }
    expect(await verdictOn(look, log, [0], new Map())).toEqual({ generation: 'one', differing: new Map() })
  }
})
