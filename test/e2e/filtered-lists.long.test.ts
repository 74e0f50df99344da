import { describe, expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import type { Answer } from '../lib/http-client.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, inParallel, type Order, type Pet } from './client.ts'
import { brokerEnvironment, type Environment, expectVerified, startRoles, startService } from './service.ts'

/** The category that pets leave and come back to, the other one, and that of pets that are ordered. */
const [home, away, shop] = [7, 8, 9]
const [standing, moving, ordered] = [40, 30, 12]
const movesOfEach = 6

/** Sends requests to one instance, and reads what came of them from the other one. */
interface Sides {
  readonly writer: Client
  readonly reader: Client
}

/** What a read has in its header that must see what this was answered for. */
function after({ headers }: Answer) {
  return { 'consistency-token': headers.get('consistency-token') ?? '', prefer: 'wait=10' }
}

/** As a client that sends a request again where nothing came of it yet: a busy machine is slow for a moment. */
async function answered(send: () => Promise<Answer>, status: number): Promise<Answer> {
  const answer = await vi.waitFor(
    async () => {
      const each = await send()
      if (each.status === 503) throw new Error(each.text)
      return each
    },
    { timeout: 30_000, interval: 50 },
  )
  expect(answer.status, answer.text).toBe(status)
  return answer
}

async function read<T>({ reader }: Sides, path: string, headers = {}): Promise<T> {
  return (await answered(() => reader.request(path, { headers }), 200)).body as T
}

const idsOf = (pets: readonly { readonly id: number }[]) => pets.map(({ id }) => id)

/** The pets of a query, page by page, each once and in ascending order of id. */
async function walk({ reader }: Sides, query: string): Promise<number[]> {
  const ids: number[] = []
  for (let path: string | undefined = `/v1/pets?${query}&limit=7`; path !== undefined; ) {
    const page: Answer = await answered(() => reader.request(path ?? ''), 200)
    ids.push(...idsOf(page.body as Pet[]))
    path = /^<(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1]
  }
  expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other))
  return ids
}

type Inventory = Readonly<Record<string, number>>
const sumOf = (inventory: Inventory) => Object.values(inventory).reduce((sum, count) => sum + count, 0)

function addMany({ writer }: Sides, count: number, categoryId: number): Promise<number[]> {
  return inParallel(count, 6, async (i) => {
    const pet = { name: `pet ${i}`, categoryId, status: 'available' }
    return ((await answered(() => writer.post(pet, { prefer: 'wait=10' }), 201)).body as Pet).id
  })
}

/** It is found at once where it went, and no longer where it was. */
async function move(sides: Sides, id: number, from: number, to: number): Promise<void> {
  const headers = after(await answered(() => sides.writer.change(id, { categoryId: to }), 200))
  const found = (category: number, more = '') =>
    read<Pet[]>(sides, `/v1/pets?categoryId=${category}&id=${id}${more}`, headers)
  expect(idsOf(await found(to))).toEqual([id])
  expect(idsOf(await found(to, '&status=available'))).toEqual([id])
  expect(await found(from)).toEqual([])
  expect(await found(to, '&status=sold')).toEqual([])
}

/** An order and its end change the counts at once, and are found under the pet. */
async function orderAndCancel(sides: Sides, petId: number): Promise<void> {
  const placed = await answered(() => sides.writer.place(petId), 201)
  const { id } = placed.body as Order
  const inventory = await read<Inventory>(sides, `/v1/store/inventory?categoryId=${shop}`, after(placed))
  expect(inventory.pending).toBeGreaterThan(0)
  expect(inventory.available).toBeLessThan(ordered)
  expect(sumOf(inventory)).toBe(ordered)
  const orders = `/v1/store/orders?petId=${petId}`
  expect(idsOf(await read<Order[]>(sides, `${orders}&status=placed`, after(placed)))).toEqual([id])
  const headers = after(await answered(() => sides.writer.update(id, 'cancelled'), 200))
  expect(idsOf(await read<Order[]>(sides, orders, headers))).toContain(id)
  expect(await read<Order[]>(sides, `${orders}&status=placed`, headers)).toEqual([])
}

/** What is added is found and counted by its token, however little its client waited. */
async function addAndFind(sides: Sides, categoryId: number): Promise<void> {
  for (let count = 1; count <= 5; count++) {
    const pet = { name: 'New', categoryId }
    const added = await answered(() => sides.writer.post(pet, { prefer: 'wait=0' }), 201)
    const headers = after(added)
    expect(idsOf(await read<Pet[]>(sides, `/v1/pets?categoryId=${categoryId}`, headers))).toContain(
      (added.body as Pet).id,
    )
    const inventory = await read<Inventory>(sides, `/v1/store/inventory?categoryId=${categoryId}`, headers)
    expect(inventory).toEqual({ available: count, pending: 0, sold: 0 })
  }
}

/** Calls it again and again until the work is done; resolves to how often that was. */
async function whileWorking(work: Promise<unknown>, look: () => Promise<void>): Promise<number> {
  let isDone = false
  const done = work.finally(() => {
    isDone = true
  })
  const looking = (async () => {
    let times = 0
    for (; !isDone; times++) await look()
    return times
  })()
  const [times] = await Promise.all([looking, done])
  return times
}

async function expectFoundWhileMoved(environment: Environment, sides: Sides): Promise<void> {
  const stay = await addMany(sides, standing, home)
  const movers = await addMany(sides, moving, home)
  const sold = await addMany(sides, ordered, shop)
  const work = Promise.all([
    inParallel(moving, 4, async (i) => {
      for (let n = 0; n < movesOfEach; n++)
        await move(sides, movers[i] ?? 0, ...((n % 2 === 0 ? [home, away] : [away, home]) as [number, number]))
    }),
    inParallel(3 * ordered, 3, (i) => orderAndCancel(sides, sold[i % ordered] ?? 0)),
    addAndFind(sides, 100),
  ])
  const known = new Set([...stay, ...movers])
  const times = await whileWorking(work, async () => {
    for (const query of [`categoryId=${home}`, `categoryId=${home}&status=available`]) {
      const ids = await walk(sides, query)
      expect(ids.filter((id) => stay.includes(id))).toEqual([...stay].sort((one, other) => one - other))
      expect(ids.filter((id) => !known.has(id))).toEqual([])
    }
    expect((await walk(sides, `categoryId=${away}`)).filter((id) => !movers.includes(id))).toEqual([])
    expect(sumOf(await read(sides, `/v1/store/inventory?categoryId=${shop}`))).toBe(ordered)
    const all = sumOf(await read(sides, '/v1/store/inventory'))
    expect(all).toBeGreaterThanOrEqual(standing + moving + ordered)
    expect(all).toBeLessThanOrEqual(standing + moving + ordered + 5)
  })
  expect(times).toBeGreaterThan(3)
  await expectRemovedIsGone(sides, stay, stay.length + movers.length)
  await expectVerified(environment)
}

/** Half of them leave every list and count, each as soon as that is answered. */
async function expectRemovedIsGone(sides: Sides, pets: readonly number[], count: number): Promise<void> {
  const [removed, kept] = [pets.slice(0, pets.length / 2), pets.slice(pets.length / 2)]
  const inCategory = `categoryId=${home}`
  for (const [n, id] of removed.entries()) {
    const headers = after(await answered(() => sides.writer.remove(id), 204))
    expect(await read<Pet[]>(sides, `/v1/pets?${inCategory}&id=${id}`, headers)).toEqual([])
    const { available } = await read<Inventory>(sides, `/v1/store/inventory?${inCategory}`, headers)
    expect(available).toBe(count - n - 1)
  }
  for (const query of [inCategory, `${inCategory}&status=available`, 'status=available']) {
    const ids = await walk(sides, query)
    expect(ids.filter((id) => removed.includes(id))).toEqual([])
    expect(ids).toEqual(expect.arrayContaining(kept))
  }
}

describe('pets are found by category, and counted, while they move, are ordered and leave', () => {
  it('in one process', { timeout: 120_000 }, async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const client = new Client(await startService(environment))
    await expectFoundWhileMoved(environment, { writer: client, reader: client })
  })
})

describeWithBrokers('pets are found by category, and counted', (brokers) => {
  it.each([1, 3])('over %d shards, on whichever instance', { timeout: 240_000 }, async (shards) => {
    const environment = { ...brokerEnvironment(brokers), READ_MODEL_SHARDS: String(shards) }
    const { clients } = await startRoles(environment)
    await expectFoundWhileMoved(environment, { writer: clients[0], reader: clients[1] })
  })
})
