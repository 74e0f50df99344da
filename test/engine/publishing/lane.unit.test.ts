import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { after, nothingTold, type PublishedLog, StandsStill } from '../../../src/engine/log/published-log.ts'
import { type DocumentOptions, documentTelling } from '../../../src/engine/publishing/documents.ts'
import { Lane, type LaneOptions, turnAfterMs } from '../../../src/engine/publishing/lane.ts'
import { eventTelling, type Telling } from '../../../src/engine/publishing/teller.ts'
import { type AnyRecord, seatAdded, seatRemoved } from '../projector/records.ts'
import { openPublishedWorld } from './published-world.ts'

/** What becomes of a transaction: as asked, aborted, or committed without an answer. */
type Fate = 'commits' | 'fails' | 'is lost'

/** One lane over a topic in memory, where each transaction and each take-over goes as told. */
async function openLane(
  fates: Fate[] = [],
  takeOvers: (Error | undefined)[] = [],
  tellingOf: (options: DocumentOptions) => Telling = () => eventTelling,
  before: readonly AnyRecord[] = [],
  times: Pick<LaneOptions, 'lookMs' | 'beatMs'> = {},
) {
  const world = await openPublishedWorld(undefined, tellingOf)
  world.journal.push(...before)
  await world.releases.newest.catchUp(before.length)
  const told: string[] = []
  let memory = nothingTold
  let epoch = 0
  const beats = { given: 0, asked: 0 }
  const published: Pick<PublishedLog, 'takeOver' | 'publisher'> = {
    publisher: 'events',
    async takeOver() {
      const refused = takeOvers.shift()
      if (refused !== undefined) throw refused
      const own = ++epoch
      return {
        memory: new Map([[0, memory]]),
        async commit([turn]) {
          const fate = fates.shift() ?? 'commits'
          if (own !== epoch) throw new Error('fenced')
          if (fate !== 'fails' && turn !== undefined) {
            told.push(...turn.records.map(({ key }) => key))
            memory = after(memory, turn)
          }
          if (fate !== 'commits') throw new Error('no answer')
        },
        check: async () => {},
        close: () => {},
      }
    },
  }
  const { promise: gate, resolve: letBeat } = Promise.withResolvers<void>()
  const group = {
    heartbeat: async () => {
      beats.asked++
      await gate
    },
  }
  const heard = new Map<number, number>()
  const { newest } = world.releases
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) })
  const lane = new Lane({
    ...{ telling: newest, published, group, lane: 0, lanes: 1, heard, logger },
    ...times,
    ...{ definition: newest.definition, log: world.log, readModel: newest.readModel },
  })
  onTestFinished(() => lane.close())
  async function add(count: number): Promise<void> {
    const from = world.journal.length
    world.journal.push(...Array.from({ length: count }, (_, i) => seatAdded({ id: from + i + 1 })))
    await newest.catchUp(world.journal.length)
    heard.set(0, world.journal.length)
    lane.wake()
  }
  const ids = (count: number) => Array.from({ length: count }, (_, i) => String(i + 1))
  return { lane, add, told, ids, beats, letBeat, lines, heard, world }
}

const patience = { timeout: 10_000, interval: 10 }

it('tells what is applied as it is applied', async () => {
  const { add, told, ids } = await openLane()
  await add(3)
  await vi.waitFor(() => expect(told).toEqual(ids(3)), patience)
  await add(2)
  await vi.waitFor(() => expect(told).toEqual(ids(5)), patience)
})

it.each([
  [0, 300],
  [300, 300],
  [700, 700],
  [5000, 1000],
])('has its next turn the later, the more the last one told: %i records, %i ms', (records, ms) => {
  expect(turnAfterMs(records)).toBe(ms)
})

it.each<Fate>(['fails', 'is lost'])(
  'goes on after a transaction that %s, once the group has answered',
  async (fate) => {
    const { add, told, ids, beats, letBeat, lane } = await openLane([fate])
    await add(3)
    await vi.waitFor(() => expect(beats.asked).toBe(1), patience)
    expect(told).toEqual(fate === 'fails' ? [] : ids(3))
    expect(lane.failure).toBe('no answer')
    letBeat()
    await add(1)
    await vi.waitFor(() => expect(told).toEqual(ids(4)), patience)
    expect(lane.failure).toBeUndefined()
  },
)

it('goes on after a failure though the group never answers', async () => {
  const { add, told, ids, beats, lane } = await openLane(['fails'], [], undefined, [], { beatMs: 10 })
  await add(3)
  await vi.waitFor(() => expect(told).toEqual(ids(3)), patience)
  expect(beats).toMatchObject({ asked: 1 })
  await vi.waitFor(() => expect(lane.failure).toBeUndefined(), patience)
})

it('tells again what a filling told in a transaction that came to nothing', async () => {
  const before = [1, 2].flatMap((id) => [seatAdded({ id }), seatRemoved(id, { version: 2 })])
  const { told, letBeat } = await openLane(['commits', 'commits', 'commits', 'fails'], [], documentTelling, before)
  letBeat()
  await vi.waitFor(() => expect(told.toSorted()).toEqual(['1', '2']), patience)
})

it('says when the read models are copied, and when they have been', async () => {
  const { lines } = await openLane([], [], documentTelling, [seatAdded({ id: 1 })])
  const copied = ['publishing: the read models are copied', 'publishing: the read models have been copied']
  await vi.waitFor(() => expect(lines).toEqual(copied), patience)
})

it('says once why it stands still', async () => {
  const { lane, lines } = await openLane([], [new StandsStill('delete it'), undefined])
  await vi.waitFor(() => expect(lane.failure).toBe('delete it'), patience)
  expect(lines).toEqual(['delete it'])
})

it('waits for a coordinator at first, and warns of nothing', async () => {
  const { lane, lines, letBeat, add, told, ids } = await openLane([], [new Error('no coordinator')])
  await vi.waitFor(() => expect(lane.failure).toBe('no coordinator'), patience)
  letBeat()
  await add(2)
  await vi.waitFor(() => expect(told).toEqual(ids(2)), patience)
  expect(lines).toEqual(['publishing: the lane cannot be taken over yet'])
})

it('tells nothing that its read models have not proved, though somebody says so', async () => {
  const { add, told, ids, heard, lane, world } = await openLane()
  await add(2)
  await vi.waitFor(() => expect(told).toEqual(ids(2)), patience)
  world.journal.push(seatAdded({ id: 3 }))
  heard.set(0, 3)
  lane.wake()
  const [before] = lane.progress
  await vi.waitFor(() => expect(world.releases.newest.loads()).toBeGreaterThan(3), patience)
  expect(lane.progress).toEqual([before])
  expect(told).toEqual(ids(2))
})

it('stands still where the last record is another one, though nothing is new: at a take-over, and later', async () => {
  for (const fates of [['is lost'], []] satisfies Fate[][]) {
    const { add, told, ids, letBeat, lane, world } = await openLane(
      fates,
      [],
      undefined,
      [],
      fates.length === 0 ? { lookMs: 500 } : {},
    )
    await add(2)
    await vi.waitFor(() => expect(told).toEqual(ids(2)), patience)
    world.journal.splice(1, 1, seatAdded({ id: 9 }))
    letBeat()
    await vi.waitFor(() => expect(lane.still?.message).toContain('has another record at offset 1'), patience)
    expect(told).toEqual(ids(2))
  }
})

it('looks at a partition where nothing is new no more often than asked', async () => {
  const { add, told, ids, world } = await openLane([], [], undefined, [], { lookMs: 1000 })
  const read = vi.spyOn(world.log, 'read')
  await add(1)
  await vi.waitFor(() => expect(told).toEqual(ids(1)), patience)
  read.mockClear()
  const beganMs = performance.now()
  await vi.waitFor(() => expect(read.mock.calls.length).toBeGreaterThanOrEqual(4), patience)
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(3000)
})
