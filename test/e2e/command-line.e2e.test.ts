import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { freePort } from '../brokers/ready.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { runHere } from '../store/run-here.ts'
import { Client, createMany } from './client.ts'
import { brokerEnvironment, petstore, petstoreOutput, startService } from './service.ts'

/** The commands that open log and read models. */
const onStorage = [
  ...['generations', 'rebuild', 'verify', 'stats', 'events'],
  ...['parked list', 'parked show 0/0', 'parked discard 0/0'],
]

describe('the command line', () => {
  it('prints one JSON document with --json, or text, beside a service that runs', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    await createMany(new Client(await startService(environment)), 30)
    const text = async (line: string) => {
      const { code, output, errors } = await runHere(environment, line)
      expect([line, code], errors).toEqual([line, 0])
      return output
    }
    const json = async (line: string) => JSON.parse(await text(`${line} --json`))
    expect(JSON.parse(await petstoreOutput(environment, 'rebuild', '--json'))).toEqual({ outcome: 'activated' })
    expect(await petstoreOutput(environment, 'rebuild')).toMatch(/^Rebuilt: /)
    expect(await json('verify')).toMatchObject({ differences: [] })
    expect(await text('verify')).toMatch(/^Generation \S+: \d+ compared, all as the log says\.\n$/)
    expect(await json('stats')).toMatchObject({
      pets: { total: 30 },
      orders: { total: 0, placed: 0 },
      categories: { total: 0 },
    })
    expect(await text('stats')).toMatch(/^pets +total +30\n/m)
    expect(await json('parked list')).toEqual([])
    expect(await text('parked list')).toBe('No event is parked.\n')
    const { versions, generations } = await json('generations')
    expect(versions).toEqual([expect.objectContaining({ isOwn: true })])
    const facts = {
      state: 'active',
      position: 30,
      lag: 0,
      documents: { pets: 30, orders: 0, categories: 0 },
      parked: 0,
    }
    expect(generations[0]).toMatchObject({ version: versions[0].version, ...facts })
    const columns = /^VERSION +GENERATION +STATE +SINCE +POSITION +LAG +PETS +ORDERS +CATEGORIES +PARKED\n/
    expect(await text('generations')).toMatch(columns)
    const { id } = await json('keys issue --name somebody')
    expect(await json('keys list')).toEqual([expect.objectContaining({ id, name: 'somebody' })])
    expect(await text('keys list')).toMatch(
      new RegExp(`^ID .*\n${id}  somebody  ${id}  read,write,orders  \\d{4}-\\d\\d-\\d\\d  never    never\n$`),
    )
    expect(await json(`keys revoke ${id} --yes`)).toEqual({ id, revoked: true })
    expect(await json('doctor')).toContainEqual({ what: 'server', state: 'ok', detail: 'is running on this folder' })
    expect(await text('doctor')).toMatch(/^STATE +WHAT +DETAIL\nok +Node /)
  })

  it('exits with 1 on problems that it finds', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const service = await startService(environment)
    await createMany(new Client(service), 30)
    const refused = { code: 1, output: '' }
    for (const line of ['keys revoke nobody', 'keys issue --rotate nobody', 'parked show 0/0', 'parked discard 0/0']) {
      expect(await runHere(environment, line)).toMatchObject(refused)
    }
    await service.end('SIGTERM')
    loseOneDocument(environment.DATA_DIR)
    const { code, output } = await petstore(environment, 'verify', '--json')
    expect(code, output).toBe(1)
    expect(JSON.parse(output).differenceCount).toBe(JSON.parse(output).differences.length)
    expect(JSON.parse(output).differences).toContainEqual(expect.objectContaining({ where: 'pets', id: '1' }))
    const text = { code: 1, output: expect.stringMatching(/^pets 1\n {2}expected {2}.*\n {2}found {5}nothing\n/) }
    expect(await runHere(environment, 'verify')).toMatchObject(text)
    await petstoreOutput(environment, 'verify', '--repair')
    expect(await runHere(environment, 'verify')).toMatchObject({ code: 0 })
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(environment.DATA_DIR, `read-models.db${suffix}`), { force: true })
    for (const line of ['stats', 'verify', 'parked list', 'parked show 0/0', 'parked discard 0/0']) {
      const errors = expect.stringContaining('no read models yet: is a projector running?')
      expect({ line, ...(await runHere(environment, line)) }).toEqual({ line, ...refused, errors })
    }
    expect(await runHere({ ...environment, PORT: 'eighty' }, 'doctor')).toMatchObject({ code: 1 })
  })
})

describeWithBrokers('the command line, with brokers out of reach,', (brokers) => {
  it('exits with 3, and says what does not answer', async () => {
    const nowhere = `127.0.0.1:${await freePort()}`
    const noKafka = { ...brokerEnvironment(brokers), KAFKA_BROKERS: nowhere }
    const noRedis = { ...brokerEnvironment(brokers), REDIS_URL: `redis://${nowhere}` }
    const [all, one, other] = await Promise.all([
      runHere(noKafka, ...onStorage.map((line) => `${line} --json`)),
      petstore(noKafka, 'generations', '--json'),
      petstore(noRedis, 'generations', '--json'),
    ])
    const kafka = `petstore: Kafka at ${nowhere} has not answered properly .*KAFKA_BROKERS.*\n`
    const redis = `petstore: Redis at ${nowhere} did not answer for \\d+ s: start it.*\n`
    const refused = (errors: string) => ({ code: 3, output: '', errors: expect.stringMatching(`^${errors}$`) })
    expect(all).toEqual(refused(`(${kafka}){${onStorage.length}}`))
    expect(one).toEqual(refused(kafka))
    expect(other).toEqual(refused(redis))
  })
})

/** In the live read models, as nothing but a fault of a disk or a bug could. */
function loseOneDocument(folder: string): void {
  using db = new DatabaseSync(join(folder, 'read-models.db'))
  const generation = "SELECT key FROM generation WHERE state = 'active'"
  const [active] = db.prepare(`SELECT key FROM collection WHERE name = 'pets' AND generation IN (${generation})`).all()
  db.exec(`DELETE FROM collection_${active?.key} WHERE rowid IN (SELECT rowid FROM collection_${active?.key} LIMIT 1)`)
}
