import { closeSync, existsSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, createMany, expectExactly, type Pet } from './client.ts'
import { expectVerified, petstore, startService } from './service.ts'

const pageBytes = 4096
const pets = 300
const told = 'the file of read models is damaged: it is set aside and built again'

const damages: [what: string, damage: (file: string) => void][] = [
  ['overwritten in the middle', (file) => overwrite(file, 4 * pageBytes)],
  ['cut to half', (file) => truncateSync(file, statSync(file).size / 2)],
  ['cut to nothing', (file) => truncateSync(file, 0)],
  ['another text', (file) => writeFileSync(file, 'no database\n'.repeat(statSync(file).size / 12))],
  ['without a table', dropTable],
  ['removed', (file) => rmSync(file)],
]

function overwrite(file: string, from: number): void {
  const opened = openSync(file, 'r+')
  const bytes = Buffer.alloc(statSync(file).size - from, 0xff)
  writeSync(opened, bytes, 0, bytes.length, from)
  closeSync(opened)
}

function dropTable(file: string): void {
  using db = new DatabaseSync(file)
  db.exec('DROP TABLE checkpoint')
}

async function filled() {
  const environment = { DATA_DIR: temporaryFolder() }
  const service = await startService(environment)
  const created = await createMany(new Client(service), pets)
  return { environment, service, created, file: join(environment.DATA_DIR, 'read-models.db') }
}

/** Answered is what is there, or that it cannot be told now. */
async function expectNoWrongAnswer(client: Client, pet: Pet): Promise<void> {
  const { status, body } = await client.get(pet.id)
  expect(status === 200 ? body : status).toEqual(status === 200 ? pet : 503)
}

it.each(damages)(
  'read models whose file is %s while it is served are built again, beside writes',
  async (what, damage) => {
    const { environment, service, created, file } = await filled()
    await service.end('SIGTERM')
    const again = await startService(environment)
    const client = new Client(again)
    damage(file)
    for (const pet of created.slice(0, 50)) await expectNoWrongAnswer(client, pet)
    const more = await createMany(client, 10)
    const patience = { timeout: 30_000, interval: 100 }
    await vi.waitFor(() => expect(again.output()).toContain(told), patience) // of a file that is gone it reads on until it looks
    await vi.waitFor(() => expectExactly(client, [...created, ...more]), patience)
    expect(again.output().split(told)).toHaveLength(2)
    expect(existsSync(`${file}.damaged`)).toBe(what !== 'removed')
    await expectVerified(environment)
  },
)

it('read models whose file is damaged before a start are built by it, and named before', async () => {
  const { environment, service, created, file } = await filled()
  await service.end('SIGTERM')
  overwrite(file, 0)
  const doctor = await petstore(environment, 'doctor')
  expect([doctor.code, doctor.output]).toEqual([1, expect.stringMatching(/failed +read models +.*not a database/)])
  const verify = await petstore(environment, 'verify')
  expect(verify.errors).toMatch(/not a database.*the service sets it aside, and builds it again from the log/)
  const again = await startService(environment)
  await expectExactly(new Client(again), created)
  expect(again.output()).toContain(told)
  expect((await petstore(environment, 'doctor')).output).toContain(`set aside as ${file}.damaged`)
  await expectVerified(environment)
})
