import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { openStorage } from '../../../src/engine/app/storage.ts'
import { checkUp } from '../../../src/engine/cli/doctor.ts'
import { issueKey } from '../../../src/engine/keys/api-keys.ts'
import type { Environment } from '../../brokers/program.ts'
import { temporaryFolder } from '../../lib/temporary-folder.ts'
import { theatre } from '../theatre/theatre.ts'

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
