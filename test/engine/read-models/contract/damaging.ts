import { expect } from 'vitest'
import { DamagedError } from '../../../../src/engine/read-models/damaged.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { type Piece, type ReadModelsFixture, topic } from './fixture.ts'
import { fullBatch, keyedBooking, keyedEntry } from './full.ts'
import { applyAll, batchAfter, booking, home, newGeneration, seat, started } from './samples.ts'
import { rowText } from './values.ts'

const beyond = '9007199254740993'
const { json, behind } = seat(1, ['a', 'b'])

type Reading = (store: ReadModelStore, generation: string) => Promise<unknown>

const nothing = { partition: 0, streams: [], keys: [], waiting: [] }
const find: Reading = ({ reads }, name) => reads.find(name, { collection: home, id: 1 })
const page: Reading = ({ reads }, name) => reads.page(name, { collection: home, after: 0, limit: 10 })
const lastOfPage: Reading = ({ reads }, name) => reads.page(name, { collection: home, after: 0, limit: 1 })
const pageOfIds: Reading = ({ reads }, name) => reads.page(name, { collection: home, after: 0, limit: 1, ids: [1] })
const { collection, indexKeys, id: keyedId } = keyedBooking
const pageUnderKey: Reading = ({ reads }, name) => reads.page(name, { collection, indexKeys, after: 0, limit: 1 })
const idsUnderKey: Reading = ({ reads }, name) =>
  reads.page(name, { collection, indexKeys, after: 0, limit: 1, ids: [keyedId] })
const load = (stream: string): Reading => {
  return ({ reads }, name) => reads.load(name, { stream, versions: { first: 1, last: 2 } })
}
const loadKey: Reading = ({ reads }, name) => reads.load(name, { key: { partition: 0, key: 'k' } })
const project = (stream: string): Reading => {
  return ({ projection }, name) => projection.load(name, { ...nothing, streams: [stream] })
}
const projectWaiting: Reading = ({ projection }, name) => projection.load(name, { ...nothing, waiting: ['0/parked'] })
const look: Reading = ({ generations }) => generations.look()
const checkpoints: Reading = ({ generations }, name) => generations.checkpoints(name)
const contents: Reading = ({ inspection }, name) => inspection.contents(name)

/** Each stored piece, what somebody puts there instead, and who then has nothing that counts. */
const damages: Readonly<Record<string, { piece: Piece; texts: readonly string[]; readings: readonly Reading[] }>> = {
  'a checkpoint': {
    piece: { checkpoint: 0 },
    texts: [
      ...['', 'garbage', '-1', '1e3', '{}', '[]', '[0]', '[1e0,0,"x",1,0,0,0,0,0]', '[-1,null,null,0,0,0,0,0,0]'],
      ...[`[${beyond},0,"x",1,0,0,0,0,0]`, `[1,${beyond},"x",1,0,0,0,0,0]`, '[1,1,"x",1,0,0,0,0,0]', '[1,0,"x",1,0]'],
      ...['[1,0,7,1,0,0,0,0,0]', `[1,0,"x",${beyond},0,0,0,0,0]`, '[1,0,"x",-1,0,0,0,0,0]'],
    ],
    readings: [look, find, page, load('1'), loadKey, project('1'), checkpoints, contents],
  },
  'a document': {
    piece: { set: home, entry: 1 },
    texts: ['', 'garbage', `garbage\0${behind}`, `${json.slice(0, -1)}\0${behind}`],
    readings: [find, load('1'), project('1'), page, pageOfIds],
  },
  'a document of another id': {
    piece: { set: home, entry: 1 },
    texts: [`${seat(11).json}\0${behind}`, `${seat(2).json}\0${behind}`],
    readings: [find, load('1'), project('1'), pageOfIds],
  },
  'a document at the end of a page': {
    piece: { set: home, entry: 1 },
    texts: ['garbage', `garbage\0${behind}`],
    readings: [lastOfPage],
  },
  'a document in a keyed set': {
    piece: { set: 'bookings:n=', entry: keyedEntry },
    texts: ['{', '{"id":', keyedBooking.json.slice(0, -1)],
    readings: [pageUnderKey, idsUnderKey],
  },
  'a document of another id in a keyed set': {
    piece: { set: 'bookings:n=', entry: keyedEntry },
    texts: [`${booking(5).json}`, `${booking(88).json}`],
    readings: [idsUnderKey],
  },
  'the row behind a document': {
    piece: { set: home, entry: 1 },
    texts: [json, `${json}\0`, `${json}\0garbage`, `${json}\0${beyond}  `, `${json}\0-1  `, `${json}\u00001 0AAA `],
    readings: [find, load('1'), project('1')],
  },
  'entries of the row behind a document': {
    piece: { set: home, entry: 1 },
    texts: [`${json}\u00002 0AAAA `, `${json}\u00001  `],
    readings: [load('1'), project('1')],
  },
  'the mark of a row that is not there': {
    piece: { set: home, entry: 1 },
    texts: [`${json}\0>`],
    readings: [load('1'), project('1')],
  },
  'a row of no document': {
    piece: { set: 'rows', entry: 's' },
    texts: ['', 'garbage', '>', rowText(129).replace('129', beyond), rowText(129).replace('129', '128')],
    readings: [load('s'), project('s')],
  },
  'a chunk of a history': {
    piece: { set: 'history', entry: '0/s' },
    texts: ['', 'garbage', `${beyond}AAAA,1AAAA`],
    readings: [load('s')],
  },
  'the record of a key': {
    piece: { set: 'keys', entry: '0/k' },
    texts: [
      ...['', 'garbage', '7', '[]', '["0","f","7",12,3,"",0]', '[0,"f",7,12,3,"",0]', '[0,"f","7",12,3,"",2]'],
      ...[`[${beyond},"f","7",12,3,"",0]`, '[0,"f","7",-12,3,"",0]', '[0,"f","7",12,3,"",0,0]'],
    ],
    readings: [loadKey],
  },
  'a stream with parked events': {
    piece: { set: 'parked', entry: 'parked' },
    texts: ['', 'garbage', '0 -1 0 x', '0 1e3 0 x', `0 0 ${beyond} x`],
    readings: [load('parked'), project('parked')],
  },
  'offsets of events that wait': {
    piece: { set: 'waiting', entry: '0/parked' },
    texts: ['', 'garbage', '2,1', '1,,2', '1e3', '-1', beyond],
    readings: [projectWaiting],
  },
}

/** Undefined where what was read counts. */
async function whyUnusable(reading: Promise<unknown>): Promise<unknown> {
  try {
    const found = (await reading) as { isComplete?: boolean; proof?: { isComplete: boolean } } | undefined
    const isComplete = found?.proof?.isComplete ?? found?.isComplete
    return isComplete === false ? 'incomplete' : undefined
  } catch (error) {
    return error
  }
}

async function fullStore(fixture: ReadModelsFixture) {
  const { store, generation } = await started(fixture)
  await applyAll(store, generation, fullBatch())
  return { store, generation }
}

/** Whatever is damaged: it is listed, another one is built beside it and takes over, or takes its place at once. */
async function expectWayBack(store: ReadModelStore, generation: string): Promise<void> {
  expect((await store.generations.all()).map(({ name }) => name)).toContain(generation)
  const built = await store.generations.build(newGeneration())
  await applyAll(store, built.name, fullBatch())
  expect(await store.generations.activate(built.name)).toBe('activated')
  expect(await whyUnusable(find(store, built.name))).toBeUndefined()
  const next = newGeneration()
  expect(await store.generations.start(next, built.name)).toBe(true)
  await applyAll(store, next.name, fullBatch())
  expect(await store.generations.look()).toMatchObject({ active: next, isComplete: true })
  await store.generations.prune(0)
  expect((await store.generations.all()).map(({ name }) => name)).toEqual([next.name])
}

export const damaging = topic('damaging', {
  ...Object.fromEntries(
    Object.entries(damages).map(([what, { piece, texts, readings }]) => [
      `${what} is damaged: it counts as missing, and the generation can be replaced`,
      async (fixture: ReadModelsFixture) => {
        const { store, generation } = await fullStore(fixture)
        for (const reading of readings) expect(await whyUnusable(reading(store, generation))).toBeUndefined()
        for (const text of texts) {
          await fixture.overwrite(generation, piece, text)
          const reopened = await fixture.open()
          for (const [i, reading] of readings.entries()) {
            const why = await whyUnusable(reading(reopened, generation))
            if (why !== 'incomplete') expect(why, `${JSON.stringify(text)}, reading ${i}`).toBeInstanceOf(DamagedError)
          }
        }
        await expectWayBack(store, generation)
      },
    ]),
  ),

  'a look names what it finds damaged, and a damaged checkpoint is never moved': async (fixture) => {
    const { store, generation } = await fullStore(fixture)
    await fixture.overwrite(generation, { checkpoint: 0 }, 'garbage')
    expect(await store.generations.look()).toMatchObject({
      ...{ active: { name: generation }, checkpoints: undefined, isComplete: false },
      damage: expect.stringContaining('partition 0'),
    })
    const applying = store.projection.apply(generation, batchAfter(fullBatch()))
    const outcome = await applying.then(
      (result) => result.outcome,
      (error) => error,
    )
    if (outcome !== 'checkpoint_mismatch') expect(outcome).toBeInstanceOf(DamagedError)
    const { name } = await store.generations.build(newGeneration())
    await applyAll(store, name, fullBatch())
    expect(await store.generations.activate(name)).toBe('activated')
    expect(await store.generations.active()).toMatchObject({ name, continues: undefined })
  },

  'a generation being built whose checkpoint is damaged does not take over': async (fixture) => {
    const { store } = await fullStore(fixture)
    const { name } = await store.generations.build(newGeneration())
    await applyAll(store, name, fullBatch())
    await fixture.overwrite(name, { checkpoint: 0 }, 'garbage')
    expect(await store.generations.activate(name)).toBe('incomplete')
    expect(await whyUnusable(checkpoints(store, name))).toBeInstanceOf(DamagedError)
    expect(await store.generations.look()).toMatchObject({ isComplete: true, building: undefined })
    expect(await store.generations.remove(name)).toBe(true)
  },

  'a recorded size out of range is told, and no reason to fail': async (fixture) => {
    const { store, generation } = await fullStore(fixture)
    for (const text of ['-1', beyond]) {
      await fixture.overwrite(generation, { size: home }, text)
      await expect(store.inspection.recorded(generation)).rejects.toBeInstanceOf(DamagedError)
      const found = await store.inspection.contents(generation)
      expect(found?.sizes.get(home)).toEqual({ actual: 2, recorded: Number.NaN })
      const isMissed = (await whyUnusable(find(store, generation))) !== undefined
      expect(isMissed).toBe(fixture.provesSizes)
      expect(await store.generations.look()).toMatchObject({ isComplete: !fixture.provesSizes })
    }
    await expectWayBack(store, generation)
  },
})
