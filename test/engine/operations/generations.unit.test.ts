import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { openStorage, type Storage } from '../../../src/engine/app/storage/storage.ts'
import { describeGenerations } from '../../../src/engine/operations/generations.ts'
import { openSqliteReadModels } from '../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { added, applyAll, firstBatch, names, newGeneration, seat } from '../read-models/contract/samples.ts'
import { theatre } from '../theatre/theatre.ts'

const logger = pino({ level: 'silent' })
const record = { key: 'k', value: 'v', headers: {} }
let folder: string
let storage: Storage
let own: string

/** The files of an embedded service with five records in its log, and nothing in its read models yet. */
beforeEach(async () => {
  folder = temporaryFolder()
  const config = readConfig(theatre, { DATA_DIR: folder })
  const served = await openStorage(theatre, config, logger)
  await served.log.append(0, Array(5).fill(record))
  await served.close()
  storage = await openStorage(theatre, config, logger, { beside: true })
  own = storage.versions[0] as string
})
afterEach(() => storage.close())

const seats = firstBatch({ documents: added(seat(1), seat(2)), parked: ['3', '4', '5'] })

const file = () => join(folder, 'read-models.db')

/** As the projector of another release would make them: an active generation with two seats, and one being built. */
async function fill(version: string, logId = storage.log.logId) {
  const store = openSqliteReadModels({ file: file(), version, names })
  const [active, building] = [newGeneration(logId), newGeneration(logId)]
  await store.generations.start(active, undefined)
  await applyAll(store, active.name, seats)
  await store.generations.build(building)
  await store.generations.renew()
  await store.close()
  return { active: active.name, building: building.name }
}

describe('the generations of the command line', () => {
  it('are those of every version, own ones first, each with what it holds', async () => {
    const other = await fill('another-7')
    const mine = await fill(own)
    const { generations, versions } = await describeGenerations(theatre, storage)
    const since = expect.any(String)
    const active = { state: 'active', position: 4, lag: 1, documents: { seats: 2, bookings: 0 }, parked: 3, since }
    const building = {
      ...active,
      state: 'building',
      position: 0,
      lag: 5,
      documents: { seats: 0, bookings: 0 },
      parked: 0,
    }
    expect(generations).toEqual([
      { version: own, name: mine.active, ...active },
      { version: own, name: mine.building, ...building },
      { version: 'another-7', name: other.active, ...active },
      { version: 'another-7', name: other.building, ...building },
    ])
    expect(versions.map(({ version, isOwn }) => `${version} ${isOwn}`)).toEqual(['another-7 false', `${own} true`])
  })

  it('hold no documents if every record was skipped, and an unknown number in an unknown layout', async () => {
    const store = openSqliteReadModels({ file: file(), version: own, names })
    const generation = newGeneration(storage.log.logId)
    await store.generations.start(generation, undefined)
    await applyAll(store, generation.name, firstBatch())
    const found = await store.inspection.recorded(generation.name)
    const documents = async (sizes = found?.sizes ?? new Map()) => {
      const inspection = { ...store.inspection, recorded: async () => found && { ...found, sizes } }
      const described = await describeGenerations(theatre, { ...storage, stores: [{ ...store, inspection }] })
      return described.generations.map((each) => each.documents)
    }
    expect(await documents()).toEqual([{ seats: 0, bookings: 0 }])
    expect(await documents(new Map())).toEqual([undefined])
    await store.close()
  })

  it('are looked at without counting what they hold, nor opening again what is open', async () => {
    await fill(own)
    const [store] = storage.stores
    const inspection = { ...store.inspection, contents: () => expect.fail('counted') }
    const openVersion = () => expect.fail('opened')
    const looking = describeGenerations(theatre, { ...storage, stores: [{ ...store, inspection }], openVersion })
    expect((await looking).generations).toHaveLength(2)
  })

  it.each([
    ['of a shard lag behind its own partitions only', 'another-7.s2-0', undefined, [1, 5]],
    ['of a shard without the only partition lag behind nothing', 'another-7.s2-1', undefined, [0, 0]],
    ['of another log have no lag', 'another-7', 'another log', [undefined, undefined]],
  ])('%s', async (_, version, logId, lags) => {
    await fill(version, logId)
    expect((await describeGenerations(theatre, storage)).generations.map(({ lag }) => lag)).toEqual(lags)
  })

  it('that nobody renewed are shown where they are of this release', async () => {
    const { active } = await fill(own)
    using db = new DatabaseSync(file())
    db.exec('DELETE FROM version')
    const { generations, versions } = await describeGenerations(theatre, storage)
    expect([generations[0]?.name, versions]).toEqual([active, []])
  })

  it('are looked at without a change', async () => {
    await fill('another-7')
    const db = new DatabaseSync(file())
    // Another number whenever any other connection has written.
    const changes = () => db.prepare('PRAGMA data_version').get()?.data_version
    const before = changes()
    await describeGenerations(theatre, storage)
    expect(changes()).toBe(before)
    await storage.stores[0].generations.renew()
    expect(changes()).not.toBe(before)
    db.close()
  })
})
