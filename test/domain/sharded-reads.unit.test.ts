import fc from 'fast-check'
import kafkajs from 'kafkajs'
import { describe, expect, it } from 'vitest'
import { type Pet, type PetId, petDocument, petStatuses, petsIn } from '../../src/domain/pet.ts'
import { PetReads, type Reads, statusIndex } from '../../src/domain/read-pets.ts'
import { ShardedReads } from '../../src/domain/sharded-reads.ts'
import { ServiceError } from '../../src/lib/errors.ts'
import type { AtLeast } from '../../src/read-models/consistent-reads.ts'

const byDefault = kafkajs.Partitioners.DefaultPartitioner()
const partitions = 6
const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
  ...{ partitionErrorCode: 0, partitionId, leader: 0, replicas: [], isr: [] },
}))

function partitionFor(key: string): number {
  return byDefault({ topic: 'pets', partitionMetadata, message: { key, value: null } })
}

/** One store that holds these pets. */
function readsOf(pets: readonly Pet[], asked: (atLeast?: AtLeast) => void = () => {}): Reads {
  const sorted = [...pets].sort((one, other) => one.id - other.id)
  return {
    async range({ index, from, to = Number.MAX_SAFE_INTEGER, limit }, atLeast) {
      asked(atLeast)
      const found = sorted
        .filter(({ status }) => index === undefined || index === statusIndex(status))
        .filter(({ id }) => from <= id && id <= to)
      const page = found.slice(0, limit)
      const documents = page.map(petDocument).join(',')
      return { documents, count: page.length, last: found.length > page.length ? page.at(-1)?.id : undefined }
    },
  }
}

/** Names that look like what separates documents, too. */
const tricky = fc.constantFrom(',{"id":5,', '},{"id":', '"},{"id":1', '\\",{"id":', ',{', ']', '{"id":')
const pet: fc.Arbitrary<Pet> = fc.record({
  id: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })).map(asId),
  name: fc.oneof(tricky, fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })),
  categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  status: fc.constantFrom(...petStatuses),
})

function asId(id: number): PetId {
  return id as PetId
}

/** Distinct pets, each in any shard at all. */
const distribution = fc.record({
  shards: fc.integer({ min: 1, max: 7 }),
  placed: fc.uniqueArray(fc.record({ pet, shard: fc.nat() }), { selector: (each) => each.pet.id, maxLength: 40 }),
})
type Distribution = typeof distribution extends fc.Arbitrary<infer T> ? T : never

function sharded({ shards, placed }: Distribution): PetReads {
  const stores = Array.from({ length: shards }, (_, shard) =>
    readsOf(placed.filter((each) => each.shard % shards === shard).map((each) => each.pet)),
  )
  return new PetReads(new ShardedReads(stores, partitionFor))
}

describe('documents in a list', () => {
  it('are told apart whatever is in them', () => {
    fc.assert(
      fc.property(fc.array(pet, { maxLength: 8 }), (pets) => {
        const expected = pets.map((each) => ({ id: each.id, document: petDocument(each) }))
        expect(petsIn(pets.map(petDocument).join(','))).toEqual(expected)
      }),
    )
  })
})

describe('reads over shards', () => {
  it('give the pages of one store, cursors included, however the pets are spread', async () => {
    const request = fc.record({
      status: fc.option(fc.constantFrom(...petStatuses), { nil: undefined }),
      after: fc.nat(70),
      limit: fc.integer({ min: 1, max: 12 }),
    })
    await fc.assert(
      fc.asyncProperty(distribution, request, async (spread, first) => {
        const whole = new PetReads(readsOf(spread.placed.map((each) => each.pet)))
        const parts = sharded(spread)
        for (let after: number | undefined = first.after; after !== undefined; ) {
          const page = await parts.page({ ...first, after })
          expect(page).toEqual(await whole.page({ ...first, after }))
          after = page.next
        }
      }),
    )
  })

  it('find every pet in whichever shard it is, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(distribution, fc.bigInt(1n, 70n), async (spread, id) => {
        const whole = new PetReads(readsOf(spread.placed.map((each) => each.pet)))
        for (const asked of [id, ...spread.placed.map((each) => BigInt(each.pet.id))]) {
          expect(await sharded(spread).find(asked)).toEqual(await whole.find(asked))
        }
      }),
      { numRuns: 30 },
    )
  })

  const rex: Pet = { id: 12 as PetId, name: 'Rex', categoryId: 1n, status: 'sold' }
  const home = partitionFor('12') % 3
  const away: Reads = {
    range: () => Promise.reject(new ServiceError('read_model_unavailable', 'away')),
  }
  /** Three shards: `at` gives what is where, as seen from the pet's own. */
  function around(at: (distance: number) => Reads): PetReads {
    const shards = [0, 1, 2].map((shard) => at((shard - home + 3) % 3))
    return new PetReads(new ShardedReads(shards, partitionFor))
  }

  it('find a pet in its own shard with one read, the others being away', async () => {
    expect(await around((distance) => (distance === 0 ? readsOf([rex]) : away)).find(12n)).toBe(petDocument(rex))
  })

  it('say that there is no pet, or give a page, only with all shards', async () => {
    const pets = around((distance) => (distance === 2 ? away : readsOf([])))
    await expect(pets.find(12n)).rejects.toMatchObject({ code: 'read_model_unavailable' })
    await expect(pets.page({ after: 0, limit: 5 })).rejects.toMatchObject({ code: 'read_model_unavailable' })
    expect(await around(() => readsOf([])).find(12n)).toBeUndefined()
  })

  it('answer from one shard where two hold the same id, by id and in pages', async () => {
    const other = { ...rex, name: 'Other' }
    const pets = around((distance) => readsOf(distance === 0 ? [rex] : [other]))
    expect(await pets.find(12n)).toBe(petDocument(rex))
    expect(await pets.page({ after: 0, limit: 5 })).toEqual({ json: `[${petDocument(rex)}]`, next: undefined })
  })

  it('wait for a position in the shard of its partition only', async () => {
    const asked: (AtLeast | undefined)[] = []
    const shards = [0, 1, 2].map((shard) => readsOf([], (atLeast) => (asked[shard] = atLeast)))
    const wait = { timeoutMs: 5 }
    const positions = [
      { partition: 4, offset: 7 },
      { partition: 2, offset: 1 },
      { partition: 1, offset: 3 },
    ]
    await new ShardedReads(shards, partitionFor).range({ from: 1, limit: 5 }, { positions, wait })
    expect(asked).toEqual([
      undefined,
      { positions: [positions[0], positions[2]], wait },
      { positions: [positions[1]], wait },
    ])
  })
})
