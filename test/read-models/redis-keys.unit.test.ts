import { describe, expect, it } from 'vitest'
import { shardVersions } from '../../src/projector/definition.ts'
import { hashSlot, slots } from '../../src/read-models/redis/hash-slot.ts'
import { redisKeys } from '../../src/read-models/redis/redis-keys.ts'

const prefix = 'petstore'

describe('the slot of a key', () => {
  it.each([
    ['123456789', 12_739], // the check value of CRC-16/XMODEM
    ['{123456789}:more', 12_739],
    ['more{123456789}{other}', 12_739],
    ['', 0],
  ])('of %j is %i', (key, slot) => expect(hashSlot(key)).toBe(slot))

  it('is that of the whole key where its first braces are empty', () => {
    expect(hashSlot('{}{123456789}')).not.toBe(12_739)
  })
})

describe('the keys of a store', () => {
  it('begin with its version alone where there is one shard', () => {
    expect(redisKeys({ prefix, version: 'pets-1' }).active).toBe('{petstore:pets-1}:active')
  })

  it.each(['pets-1.s3-3', 'pets-1.s0-0', 'pets-1.s1000-1'])('of a version called %s can be named too', (version) => {
    expect(redisKeys({ prefix, version }).active).toBe(`{petstore:${version}}:active`)
  })

  it.each([2, 3, 6, 64])('of %i shards are spread evenly, each in one slot', (shards) => {
    const found = shardVersions('pets-1', shards).map((version) => {
      const { generation, progress, ...keys } = redisKeys({ prefix, version })
      const { index, ...others } = generation('g')
      return [...Object.values(keys), ...Object.values(others), index('status:sold'), progress].map(hashSlot)
    })
    for (const [shard, all] of found.entries()) {
      expect(new Set(all).size).toBe(1)
      expect(Math.floor(((all[0] ?? 0) / slots) * shards)).toBe(shard)
    }
  })
})
