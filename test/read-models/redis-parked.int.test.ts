import { afterEach, beforeEach, expect, it } from 'vitest'
import { startOfPartition } from '../../src/read-models/checkpoint.ts'
import { redisKeys } from '../../src/read-models/redis/redis-keys.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { allParked, applyAll, batchAfter, decision, firstBatch, parkedEvent, started } from './contract/samples.ts'
import { type RedisFixture, redisFixture } from './redis-fixture.ts'

describeWithBrokers('what redis read models keep beside documents', ({ redisUrl }) => {
  let fixture: RedisFixture
  beforeEach(() => {
    fixture = redisFixture(redisUrl)
  })
  afterEach(() => fixture.remove())

  it.each(['a', 'a/1', 'a/1/2', '', '/', '0', 'é🐕', 'a*[b', 'with\0nul', '"\\u0000'])(
    'events parked under %j are found among those under others, and are gone once unparked',
    async (subject) => {
      const { store, generation } = await started(fixture)
      const others = ['b', 'a/1/2/3', 'a0', `${subject}/1`, `${subject}/`, `1/${subject}`]
      const parked = others.map((other, i) => parkedEvent(20 + i, other))
      const own = [parkedEvent(3, subject), parkedEvent(11, subject)]
      const first = { ...firstBatch(), parked: [...parked, ...own] }
      await applyAll(store, generation, first, { ...firstBatch({ partition: 1 }), parked: own.slice(1) })
      expect(await store.parkedUnder(generation, 0, subject)).toEqual(own)
      expect(await store.parkedUnder(generation, 1, subject)).toEqual(own.slice(1))
      const second = batchAfter(first.checkpoint, { unparked: [3, 11], freed: [subject] })
      await applyAll(store, generation, second)
      expect(await store.parkedUnder(generation, 0, subject)).toEqual([])
      expect(await store.parkedUnder(generation, 1, subject)).toEqual(own.slice(1))
      await applyAll(store, generation, batchAfter(second.checkpoint, { unparked: parked.map((e) => e.offset) }))
      const keys = redisKeys({ prefix: fixture.prefix, version: 'v1' }).generation(generation)
      expect(await fixture.client.zrange(keys.parkedOffsets, '0', '-1')).toEqual([`1/${subject}/11`])
    },
  )

  it('text that is no Unicode does not stop what comes after it', async () => {
    const { store, generation } = await started(fixture)
    const first = { ...firstBatch(), parked: [{ offset: 3, subject: 'a\ud800', reason: '\udfff', value: '\ud800' }] }
    await applyAll(store, generation, first)
    expect(await allParked(store, generation)).toHaveLength(1)
    await applyAll(store, generation, batchAfter(first.checkpoint, { unparked: [3], freed: ['a\ud800'] }))
    expect(await allParked(store, generation)).toEqual([])
    expect((await store.partitionStates(generation, [0]))?.get(0)?.parkedSubjects).toEqual(new Set())
  })

  it('many parked events and decisions of one batch are taken, and read in parts', async () => {
    const { store, generation } = await started(fixture)
    const numbers = Array.from({ length: 9000 }, (_, i) => i)
    const decisions = numbers.map((i) => decision(`key ${i}`, i))
    const parked = numbers.map((i) => parkedEvent(i, `subject ${i % 3}`))
    const first = { ...firstBatch(), decisions, parked }
    await applyAll(store, generation, first)
    expect((await store.parkedUnder(generation, 0, 'subject 1')).map(({ offset }) => offset)).toEqual(
      numbers.filter((i) => i % 3 === 1),
    )
    const found = new Map<string, unknown>()
    let reads = 0
    for (let from: string | undefined = ''; from !== undefined; reads++) {
      const read = await store.decisions(generation, from, 1000)
      expect(read?.moment.checkpoints.get(0)).toEqual(first.checkpoint)
      for (const decided of read?.decisions ?? []) found.set(decided.key, decided)
      from = read?.next
    }
    expect(reads).toBeGreaterThan(5)
    expect(found).toEqual(new Map(decisions.map((decided) => [decided.key, decided])))
    const at = parked.map((event) => ({ partition: 0, ...event }))
    expect(await allParked(store, generation, 500)).toEqual(at)
    const freed = ['subject 0', 'subject 1', 'subject 2']
    await applyAll(store, generation, batchAfter(first.checkpoint, { unparked: numbers, freed }))
    expect(await store.contents(generation)).toMatchObject({ parked: 0, decisions: 9000 })
  })

  it('an id that is taken is found among those of other partitions', async () => {
    const { store, generation } = await started(fixture)
    const insertOf = (id: number, event: string) => ({
      id,
      document: `{"id":${id},"of":"${event}"}`,
      tag: event.padEnd(12, '-'),
      indexes: [],
    })
    const odd = Array.from({ length: 100 }, (_, i) => insertOf(2 * i + 1, 'first'))
    await applyAll(store, generation, firstBatch({ inserts: odd }))
    const even = odd.map(({ id }) => insertOf(id + 1, 'even')).reverse()
    const clash = {
      partition: 1,
      inserts: [...even, insertOf(101, 'second'), insertOf(Number.MAX_SAFE_INTEGER, 'far')],
    }
    expect(await store.apply(generation, batchAfter(startOfPartition, clash))).toEqual({
      outcome: 'ids_taken',
      tags: new Map([[101, 'first-------']]),
    })
    await applyAll(store, generation, batchAfter(startOfPartition, { partition: 1, inserts: even }))
    expect((await store.contents(generation))?.documents).toEqual({ held: 200, added: 200 })
  })
})
