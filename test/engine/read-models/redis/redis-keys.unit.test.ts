import slotOf from 'cluster-key-slot'
import { describe, expect, it } from 'vitest'
import { redisKeys } from '../../../../src/engine/read-models/redis/redis-keys.ts'
import { shardVersions } from '../../../../src/engine/read-models/shards.ts'

const prefix = 'theatre'

describe('the keys of a store', () => {
  it('begin with its version alone where there is one shard', () => {
    expect(redisKeys({ prefix, version: 'seats-1' }).active).toBe('{theatre:seats-1}:active')
  })

  it('never change under a version, also where there are several shards', () => {
    const tags = shardVersions('seats-1', 3).map((version) => redisKeys({ prefix, version }).active)
    expect(tags).toEqual(['0.0', '1.2', '2.1'].map((shard) => `{theatre:seats-1.s3-${shard}}:active`))
  })

  it.each(['seats-1.s3-3', 'seats-1.s0-0', 'seats-1.s1000-1'])('of a version called %s can be named too', (version) => {
    expect(redisKeys({ prefix, version }).active).toBe(`{theatre:${version}}:active`)
  })

  it.each([2, 3, 6, 64])('of %i shards are spread evenly, each in one slot', (shards) => {
    const found = shardVersions('seats-1', shards).map((version) => {
      const { generation, progress, ...keys } = redisKeys({ prefix, version })
      const { checkpoints, sizes, set } = generation('g')
      return [...Object.values(keys), checkpoints, sizes, set('seats:sold'), set('seats:hall='), progress].map((key) =>
        slotOf(key),
      )
    })
    for (const [shard, all] of found.entries()) {
      expect(new Set(all).size).toBe(1)
      expect(Math.floor(((all[0] ?? 0) / 16_384) * shards)).toBe(shard)
    }
  })
})
