import { afterEach, beforeEach, expect, it } from 'vitest'
import { DamagedError } from '../../../../src/engine/read-models/damaged.ts'
import { documentsIn, entryId } from '../../../../src/engine/read-models/document.ts'
import type { Batch } from '../../../../src/engine/read-models/ports/projection.ts'
import type { StoredReads } from '../../../../src/engine/read-models/ports/reads.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { redisKeys } from '../../../../src/engine/read-models/redis/redis-keys.ts'
import { describeWithBrokers } from '../../../brokers/describe.ts'
import {
  added,
  applyAll,
  batchAfter,
  changed,
  firstBatch,
  home,
  itemsIn,
  newGeneration,
  removed,
  seat,
  started,
} from '../contract/samples.ts'
import { jsonOf, numbers } from '../contract/values.ts'
import { type RedisFixture, redisFixture } from './redis-fixture.ts'

const set = 'seats:hall='
const [front, back, none] = ['3:redfront ', '3:redback ', '3:red ']
const [inFront, inBack, nowhere] = [front, back, none].map((beginning) => `hall=${beginning}`) as [
  string,
  string,
  string,
]
const inRed = [inFront, inBack, nowhere]

const count = 3100
const ids = numbers(count)
const keyOf = (id: number) => inRed[id % 3] ?? ''
const beginningOf = (id: number) => [front, back, none][id % 3] ?? ''
/** The entries of all ids in order of bytes. */
const entries = ids.map((id) => `${entryId(beginningOf(id), id)}${jsonOf(id)}`).sort()

describeWithBrokers('keyed sets of redis read models', ({ redisUrl }) => {
  let fixture: RedisFixture
  let store: ReadModelStore
  let generation: string
  let key: string

  beforeEach(async () => {
    fixture = redisFixture(redisUrl)
    ;({ store, generation } = await started(fixture))
    key = redisKeys({ prefix: fixture.prefix, version: 'v1' }).generation(generation).set(set)
  })
  afterEach(() => fixture.remove())

  const filled = firstBatch({ documents: added(...ids.map((id) => seat(id, [keyOf(id)]))) })
  const stored = () => fixture.client.zrange(key, '0', '-1', 'WITHSCORES')
  const page = (query: Partial<Parameters<StoredReads['page']>[1]> = {}) =>
    store.reads.page(generation, { collection: home, indexKeys: inRed, after: 0, limit: 20, ...query })
  const counts = () => store.reads.count(generation, { collection: home, indexKeys: inRed })
  const everyRead = () => [page(), page({ indexKeys: [inFront] }), page({ ids: [3, 4] }), counts()]

  it('an entry changes with the key and the JSON of its document, in one apply, and else stays', async () => {
    const of = (...documents: [beginning: string, id: number, text: string][]) =>
      documents.flatMap(([beginning, id, text]) => [`${entryId(beginning, id)}${jsonOf(id, text)}`, '0'])
    const before = [
      seat(1, [inBack]),
      seat(2, [inBack]),
      seat(3, [inBack]),
      seat(4, [inBack]),
      seat(2 ** 53 - 1, [inFront]),
    ]
    const first = firstBatch({ documents: added(...before) })
    await applyAll(store, generation, first)
    expect(await stored()).toEqual(
      of([back, 1, ''], [back, 2, ''], [back, 3, ''], [back, 4, ''], [front, 2 ** 53 - 1, '']),
    )
    const after = [seat(1, [inFront]), seat(2, [inBack], 1, 'other'), seat(3, [inBack], 2), seat(4, [])]
    const documents = [...changed(before, after), ...removed(...before.slice(4))]
    const second = batchAfter(first, { documents })
    await applyAll(store, generation, second)
    expect(await stored()).toEqual(of([back, 2, 'other'], [back, 3, ''], [front, 1, '']))
    expect((await store.inspection.contents(generation))?.sizes.get(set)).toEqual({ actual: 3, recorded: 3 })
  })

  const places = { 'at the beginning': 0, 'in the middle': count / 2, 'behind the first thousand': count - 1 }
  const extra = { 'at the beginning': '3:redaa ', 'in the middle': front, 'behind the first thousand': '9:zzzzzzzzz' }
  const losses = Object.entries(places).map(([where, at]): [string, () => Promise<unknown>] => [
    `missing ${where}`,
    () => fixture.client.zrem(key, entries[at] ?? ''),
  ])
  const additions = Object.entries(extra).map(([where, beginning]): [string, () => Promise<unknown>] => [
    `too many ${where}`,
    () => fixture.client.zadd(key, 0, `${entryId(beginning, 7000)}${jsonOf(7000)}`),
  ])
  it.each([...losses, ...additions])(
    'an entry is %s: every read tells, nothing is applied, and a new generation heals it',
    async (_, damage) => {
      await applyAll(store, generation, filled)
      for (const { proof } of await Promise.all(everyRead())) expect(proof.isComplete).toBe(true)
      await damage()
      for (const { proof } of await Promise.all(everyRead())) expect(proof.isComplete).toBe(false)
      expect(await store.generations.look()).toMatchObject({ active: { name: generation }, isComplete: false })
      const next = batchAfter(filled, { documents: added(seat(count + 1, [inFront])) })
      expect(await store.projection.apply(generation, next)).toEqual({ outcome: 'incomplete' })
      const healed = newGeneration()
      await store.generations.start(healed, generation)
      generation = healed.name
      await applyAll(store, generation, filled)
      for (const { proof } of await Promise.all(everyRead())) expect(proof.isComplete).toBe(true)
      expect(documentsIn((await page()).documents).map(({ id }) => id)).toEqual(numbers(20))
    },
  )

  it.each<[string, () => Promise<unknown>]>([
    ['text', () => fixture.client.set(key, 'a text')],
    ['list', () => fixture.client.rpush(key, 'an element')],
    ['hash', () => fixture.client.hset(key, 'field', 'value')],
  ])('a %s in its place is damage, which a look names', async (_, put) => {
    await applyAll(store, generation, filled)
    await fixture.client.del(key)
    await put()
    for (const read of everyRead()) await expect(read).rejects.toBeInstanceOf(DamagedError)
    const damage = expect.stringContaining(set)
    expect(await store.generations.look()).toMatchObject({ isComplete: false, damage })
    const next = batchAfter(filled, { documents: added(seat(count + 1, [inFront])) })
    await expect(store.projection.apply(generation, next)).rejects.toBeInstanceOf(DamagedError)
    expect((await store.inspection.contents(generation))?.sizes.get(set)?.actual).toBe(-1)
    const healed = newGeneration()
    expect(await store.generations.start(healed, generation)).toBe(true)
    await store.generations.remove(generation)
    expect(await fixture.client.exists(key)).toBe(0)
  })

  /** In place of the entry of seat 3, the first one in front. */
  async function replaceThird(entry: string | Buffer): Promise<void> {
    expect(await fixture.client.zrem(key, `${entryId(front, 3)}${jsonOf(3)}`)).toBe(1)
    expect(await fixture.client.zadd(key, 0, entry)).toBe(1)
  }

  const third = entryId(front, 3)
  it.each([
    ['the JSON of another document', `${third}${jsonOf(30)}`],
    ['the JSON of one whose id begins the same', `${third}${jsonOf(3_000)}`],
    ['no JSON', `${third}garbage`],
    ['nothing behind it', third],
    ['bytes that are no text behind it', Buffer.concat([Buffer.from(third), Buffer.from([0xff, 0x7b])])],
    ['the end of its JSON missing', `${third}${jsonOf(3).slice(0, -1)}`],
  ])('an entry with %s is damage on any page that has it', async (_, entry) => {
    await applyAll(store, generation, filled)
    await replaceThird(entry)
    for (const query of [{}, { indexKeys: [inFront] }, { limit: 3 }, { ids: [3] }, { indexKeys: [inFront], limit: 1 }])
      await expect(page(query)).rejects.toBeInstanceOf(DamagedError)
    expect(documentsIn((await page({ after: 3 })).documents).map(({ id }) => id)).toEqual(numbers(20, 4))
  })

  it('an entry whose id has fewer than 16 digits is damage, and ends no page early', async () => {
    await applyAll(store, generation, filled)
    await replaceThird(`${front}3${jsonOf(3)}`)
    const asked = await Promise.allSettled([page({ indexKeys: [inFront], after: 0, limit: 5000 })])
    expect(asked).toMatchObject([{ status: 'rejected', reason: expect.any(DamagedError) }])
  })

  const strangeEntries: readonly (string | Buffer)[] = [
    ...['', '(', '%', '%28', '[', '+', '-', ' ', '1:', '1:a', `99:${third}${jsonOf(3)}`, 'a\r\nb', '\0', '3:red\0'],
    ...[[0xff], [0xc3], [0x80, 0x25, 0x00], [0x33, 0x3a, 0xed, 0xa0, 0x80], [0xff, 0xff]].map((bytes) =>
      Buffer.from(bytes),
    ),
  ]
  it('a scan goes through all entries in order, each once, whatever bytes some have', async () => {
    await applyAll(store, generation, filled)
    for (const entry of strangeEntries) await fixture.client.zadd(key, 0, entry)
    const all = ids.map((id): [string, string] => [entryId(beginningOf(id), id), jsonOf(id)]).sort()
    for (const limit of [1, 7, 1000, 5000]) {
      const found: (readonly [string, string])[] = []
      await itemsIn(store, generation, set, limit, (items) => found.push(...items))
      expect(found).toHaveLength(count + strangeEntries.length)
      expect(found.filter(([, text]) => text !== '')).toEqual(all)
      const unnamed = found.flatMap(([id, text]) => (text === '' ? id : []))
      expect(unnamed.sort()).toEqual(strangeEntries.map(String).sort())
    }
  })

  it('a scan goes on where it was, though the entry that it ended with was removed', async () => {
    await applyAll(store, generation, filled)
    const found: string[] = []
    let batch: Batch = filled
    await itemsIn(store, generation, set, 1000, async (items) => {
      found.push(...items.map(([id]) => id))
      const last = Number(items.at(-1)?.[0].slice(-16))
      batch = batchAfter(batch, { documents: removed(seat(last, [keyOf(last)])) })
      await applyAll(store, generation, batch)
    })
    expect(found).toEqual(entries.map((entry) => entry.slice(0, entry.indexOf('{'))))
    expect((await store.inspection.find(generation, set, ['', '16', third, entries.at(-1) ?? '']))?.texts).toEqual([
      ...[undefined, undefined],
      ...[jsonOf(3), undefined],
    ])
  })

  it('a page shows documents that move between its ranges, each once, whenever it is read', async () => {
    const other = await fixture.open()
    const moving = numbers(30)
    const first = firstBatch({ documents: added(...moving.map((id) => seat(id, [keyOf(id)]))) })
    await applyAll(store, generation, first)
    let batch: Batch = first
    let isMoving = true
    async function move(): Promise<void> {
      for (let turn = 0; turn < 150; turn++) {
        const at = (id: number, turn: number) => seat(id, [inRed[(id + turn) % 3] ?? ''])
        const documents = changed(
          moving.map((id) => at(id, turn)),
          moving.map((id) => at(id, turn + 1)),
        )
        batch = batchAfter(batch, { documents })
        await applyAll(other, generation, batch)
      }
      isMoving = false
    }
    const moved = move()
    let pages = 0
    for (; isMoving; pages++) {
      const [all, ofIds, counted] = await Promise.all([
        page({ limit: 100 }),
        page({ ids: moving, limit: 100 }),
        counts(),
      ])
      for (const { documents } of [all, ofIds]) expect(documentsIn(documents).map(({ id }) => id)).toEqual(moving)
      expect(counted.counts).toEqual([10, 10, 10])
      expect([all, ofIds, counted].every(({ proof }) => proof.isComplete)).toBe(true)
    }
    await moved
    expect(pages).toBeGreaterThan(20)
  })
})
