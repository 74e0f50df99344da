import { expect, it } from 'vitest'
import { groupReader, type SetLookup } from '../../../../src/engine/read-models/redis/group-reader.ts'
import { redisKeys } from '../../../../src/engine/read-models/redis/redis-keys.ts'
import { encodeCheckpoint, startOfPartition } from '../../../../src/engine/read-models/stored-texts.ts'

const keys = redisKeys({ prefix: 'test', version: 'v1' })
const lookups: readonly SetLookup[] = [{ what: 'member', set: 'seats', of: 1 }]

it('each answer is as complete as its own sets were, though nothing was written between two', async () => {
  const state = `g\u00000\u0000${encodeCheckpoint({ ...startOfPartition, next: 7 })}`
  const completeness = ['1', '0', '1']
  const read = groupReader(keys, async () => [state, completeness.shift() ?? '', 'found'])
  const proofs = [await read('g', lookups), await read('g', lookups), await read('g', lookups)].map(
    ({ proof }) => proof,
  )
  expect(proofs.map(({ isComplete }) => isComplete)).toEqual([true, false, true])
  for (const { active, checkpoints } of proofs) expect([active, checkpoints.get(0)?.next]).toEqual(['g', 7])
})
