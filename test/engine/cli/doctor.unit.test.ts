import { chmodSync, existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { issueKey } from '../../../src/engine/api-keys/api-keys.ts'
import { readConfig } from '../../../src/engine/app/config.ts'
import { openStorage } from '../../../src/engine/app/storage/storage.ts'
import { checkUp } from '../../../src/engine/cli/doctor.ts'
import type { Environment } from '../../brokers/program.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { replaceBytes, storedLog } from '../log/sqlite/stored-log.ts'
import { theatre } from '../theatre/theatre.ts'
import { runHere } from './run-here.ts'

async function findingsOf(environment: Environment, what: string) {
  return (await checkUp(theatre, environment)).filter((each) => each.what.startsWith(what))
}

it('the doctor finds nothing to fear before the first start, which makes the folder, and beside a server', async () => {
  const DATA_DIR = join(temporaryFolder(), 'data')
  const failures = async () => (await checkUp(theatre, { DATA_DIR })).filter(({ state }) => state === 'failed')
  const folder = { state: 'ok', detail: expect.stringContaining('the first start makes it') }
  expect(await findingsOf({ DATA_DIR }, 'folder')).toMatchObject([folder])
  expect([await failures(), existsSync(DATA_DIR)]).toEqual([[], false])
  const server = await openStorage(theatre, readConfig(theatre, { DATA_DIR }), pino({ level: 'silent' }))
  expect(await findingsOf({ DATA_DIR }, 'server')).toMatchObject([{ detail: 'is running on this folder' }])
  expect(await failures()).toEqual([])
  await server.close()
  expect(await findingsOf({ DATA_DIR }, 'server')).toMatchObject([{ detail: 'is not running on this folder' }])
})

it('the doctor says what is wrong', async () => {
  const [folder, open] = [temporaryFolder(), temporaryFolder()]
  const file = join(folder, 'file')
  writeFileSync(file, 'garbage'.repeat(1000))
  mkdirSync(open, { recursive: true })
  chmodSync(open, 0o755)
  expect(await findingsOf({ DATA_DIR: open }, 'folder')).toMatchObject([{ state: 'warning' }, { state: 'ok' }])
  writeFileSync(join(open, 'event-log.db'), 'garbage'.repeat(1000))
  const cases: [environment: Environment, what: string, detail: RegExp][] = [
    [{ DATA_DIR: file }, 'folder', /not a folder: set DATA_DIR/],
    [{ DATA_DIR: folder, PORT: 'eighty' }, 'settings', /PORT must be/],
    [{ DATA_DIR: folder, API_KEYS_FILE: file }, 'API keys', /file is not a file of API keys/],
    [{ DATA_DIR: open }, 'event log', /not a database/],
  ]
  for (const [environment, what, detail] of cases) {
    const failed = { state: 'failed', detail: expect.stringMatching(detail) }
    expect(await findingsOf(environment, what)).toMatchObject([failed])
  }
})

it('the doctor finds a clock whose time no event can have', async () => {
  const DATA_DIR = temporaryFolder()
  expect(await findingsOf({ DATA_DIR }, 'clock')).toMatchObject([{ state: 'ok' }])
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('+012000-01-01T00:00:00.000Z') })
  onTestFinished(() => void vi.useRealTimers())
  const detail = expect.stringContaining('The clock of the service says +012000-01-01T00:00:00.000Z')
  expect(await findingsOf({ DATA_DIR }, 'clock')).toMatchObject([{ state: 'failed', detail }])
})

it('the doctor names damaged read models, and a file that was set aside, and changes neither', async () => {
  const DATA_DIR = temporaryFolder()
  const config = readConfig(theatre, { DATA_DIR })
  await (await openStorage(theatre, config, pino({ level: 'silent' }))).close()
  const file = join(DATA_DIR, 'read-models.db')
  expect(await findingsOf({ DATA_DIR }, 'read models')).toMatchObject([{ state: 'ok', detail: 'can be read' }])
  const whole = readFileSync(file)
  const damages: [damage: () => void, detail: RegExp][] = [
    [() => writeFileSync(file, 'garbage'.repeat(1000)), /file is not a database/],
    [() => truncateSync(file, whole.length / 2), /read-models\.db is damaged/],
    [
      () => writeFileSync(file, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096)])),
      /is damaged/,
    ],
    [() => dropTable(file), /its table generation is gone/],
  ]
  for (const [damage, detail] of damages) {
    writeFileSync(file, whole)
    damage()
    const before = readFileSync(file)
    const failure = { state: 'failed', detail: expect.stringMatching(detail) }
    expect(await findingsOf({ DATA_DIR }, 'read models')).toMatchObject([failure])
    expect(await findingsOf({ DATA_DIR }, 'event log')).toMatchObject([{ state: 'ok' }])
    expect(readFileSync(file).equals(before)).toBe(true)
  }
  const storage = await openStorage(theatre, config, pino({ level: 'silent' }))
  await expect(storage.stores[0].generations.look()).rejects.toThrow('are damaged')
  await storage.close()
  const warning = { state: 'warning', detail: expect.stringContaining(`set aside as ${file}.damaged`) }
  expect(await findingsOf({ DATA_DIR }, 'read models')).toMatchObject([{ state: 'ok' }, warning])
})

function dropTable(file: string): void {
  using db = new DatabaseSync(file)
  db.exec('DROP TABLE generation')
}

it('the doctor warns where the file of keys is gone, but events are there', async () => {
  const DATA_DIR = temporaryFolder()
  const server = await openStorage(theatre, readConfig(theatre, { DATA_DIR }), pino({ level: 'silent' }))
  await server.close()
  const warning = { state: 'warning', detail: expect.stringContaining('api-keys.json: restore it from a backup') }
  expect(await findingsOf({ DATA_DIR }, 'API keys')).toMatchObject([warning])
})

it('the doctor reads the whole log, tells how far it is, and names where it is damaged', async () => {
  const DATA_DIR = temporaryFolder()
  const file = join(DATA_DIR, 'event-log.db')
  await storedLog(6000, file)
  const told: unknown[] = []
  const whole = await checkUp(theatre, { DATA_DIR }, (...each) => told.push(each))
  expect(whole).toContainEqual({ what: 'event log', state: 'ok', detail: 'has 6000 events, all as they were written' })
  expect(told).toEqual([2500, 5000, 6000].map((done) => ['event log', done, 6000]))
  replaceBytes(file, 'value-5050', 'value-5051')
  const detail = expect.stringContaining('The event log is damaged at offset 5050 (')
  expect(await findingsOf({ DATA_DIR }, 'event log')).toMatchObject([{ state: 'failed', detail }])
  expect((await runHere({ DATA_DIR }, 'doctor')).code).toBe(1)
})

it('the doctor warns when no key is valid, also if there are expired ones', async () => {
  const folder = temporaryFolder()
  const keys = () => findingsOf({ DATA_DIR: folder }, 'API keys')
  const warning = { state: 'warning', detail: expect.stringContaining('keys issue --name NAME') }
  expect(await keys()).toMatchObject([warning])
  const now = new Date()
  issueKey(
    join(folder, 'api-keys.json'),
    { service: 'theatre', name: 'past', expiresAt: new Date(now.getTime() - 1) },
    now,
  )
  expect(await keys()).toMatchObject([warning])
  issueKey(join(folder, 'api-keys.json'), { service: 'theatre', name: 'present' }, now)
  expect(await keys()).toMatchObject([{ state: 'ok', detail: '1' }])
})
