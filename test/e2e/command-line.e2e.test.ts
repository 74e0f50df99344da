import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { freePort } from '../brokers/ready.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, createMany, inParallel } from './client.ts'
import { brokerEnvironment, type Environment, petstore, petstoreJson, petstoreOutput, startService } from './service.ts'

/** The commands, each with what it is given. */
const commands = {
  generations: [],
  rebuild: [],
  verify: [],
  stats: [],
  'parked list': [],
  'parked show': ['0/0'],
  'parked discard': ['0/0'],
  events: [],
  backup: ['folder'],
  seed: ['1'],
  doctor: [],
  'keys issue': ['--name', 'somebody'],
  'keys list': [],
  'keys revoke': ['nobody'],
}
const names = Object.keys(commands)
const onStorage = Object.entries(commands).filter(([name]) => !/^(keys|backup|seed|doctor)/.test(name))

describe('the command line', () => {
  it('tells of every command and its options', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const groups = ['', 'keys', 'parked']
    const help = (name: string) => petstore(environment, ...name.split(' ').filter(Boolean), '--help')
    const outcomes = await inParallel(groups.length, 4, (i) => help(groups[i] as string))
    const listed = outcomes.flatMap(({ output }, i) =>
      [...output.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => `${groups[i]} ${name}`.trim()),
    )
    const known = [...names, 'keys', 'parked', ...groups.map((group) => `${group} help`.trim())]
    expect(listed.toSorted()).toEqual(known.toSorted())
    expect(outcomes[0]?.output).toContain('Exit codes: 0 done, 1 ')
    const each = await inParallel(names.length, 4, (i) => help(names[i] as string))
    each.forEach(({ code, output }, i) => {
      expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining(`Usage: petstore ${names[i]} `) })
      expect(output).toMatch(/^ {2}--json /m)
    })
  })

  it('exits with 2 on invalid usage or configuration, and names the problem', async () => {
    const DATA_DIR = temporaryFolder()
    const cases: [args: string, environment: Environment, names: RegExp][] = [
      ['', {}, /Usage: petstore/],
      ['parked', {}, /Usage: petstore parked/],
      ['nonsense', {}, /nonsense/],
      ['verify --nonsense', {}, /--nonsense/],
      ['parked show', {}, /partition\/offset/],
      ['keys issue', {}, /--name/],
      ['verify', {}, /no event log in .*DATA_DIR/],
      ['keys list', { PORT: 'eighty' }, /PORT/],
      ['stats', { KAFKA_BROKERS: '127.0.0.1:9092' }, /REDIS_URL/],
      ['events --from 1', {}, /--from 1 is not PARTITION\/OFFSET/],
      ['backup folder', { KAFKA_BROKERS: '127.0.0.1:9092', REDIS_URL: 'redis://127.0.0.1' }, /back up the topics/],
      ['backup folder', {}, /no event log in .*DATA_DIR/],
      ['seed one', {}, /whole number/],
      ['seed 1 --orders 2', {}, /--orders 2 is more than/],
      ['seed 1', {}, /PETSTORE_KEY/],
    ]
    await inParallel(cases.length, 4, async (i) => {
      const [args, environment, named] = cases[i] as (typeof cases)[number]
      const outcome = await petstore({ DATA_DIR, ...environment }, ...args.split(' ').filter(Boolean))
      expect({ args, ...outcome }).toEqual({ args, code: 2, output: '', errors: expect.stringMatching(named) })
    })
  })

  it('prints one JSON document with --json, or text, beside a service that runs', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    await createMany(new Client(await startService(environment)), 30)
    const json = (...args: string[]) => petstoreJson(environment, ...args)
    const text = (...args: string[]) => petstoreOutput(environment, ...args)
    expect(await json('rebuild')).toEqual({ outcome: 'activated' })
    expect(await text('rebuild')).toMatch(/^Rebuilt: /)
    expect(await json('verify')).toMatchObject({ differences: [] })
    expect(await text('verify')).toMatch(/^Generation \S+: \d+ compared, all as the log says\.\n$/)
    expect(await json('stats')).toMatchObject({ pets: { total: 30 }, orders: { total: 0, placed: 0 } })
    expect(await text('stats')).toMatch(/^pets +total +30\n/m)
    expect(await json('parked', 'list')).toEqual([])
    expect(await text('parked', 'list')).toBe('No event is parked.\n')
    const { versions, generations } = await json('generations')
    expect(versions).toEqual([expect.objectContaining({ isOwn: true })])
    const facts = { state: 'active', position: 30, lag: 0, documents: { pets: 30, orders: 0 }, parked: 0 }
    expect(generations[0]).toMatchObject({ version: versions[0].version, ...facts })
    const columns = /^VERSION +GENERATION +STATE +SINCE +POSITION +LAG +PETS +ORDERS +PARKED\n/
    expect(await text('generations')).toMatch(columns)
    const { id } = await json('keys', 'issue', '--name', 'somebody')
    expect(await json('keys', 'list')).toEqual([expect.objectContaining({ id, name: 'somebody' })])
    expect(await text('keys', 'list')).toMatch(
      new RegExp(`^ID .*\n${id}  somebody  ${id}  read,write,orders  \\d{4}-\\d\\d-\\d\\d  never    never\n$`),
    )
    expect(await json('keys', 'revoke', id, '--yes')).toEqual({ id, revoked: true })
  })

  it('exits with 1 on problems that it finds', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const service = await startService(environment)
    await createMany(new Client(service), 30)
    const refused = { code: 1, output: '' }
    for (const command of [
      'keys revoke nobody',
      'keys issue --rotate nobody',
      'parked show 0/0',
      'parked discard 0/0',
    ]) {
      expect(await petstore(environment, ...command.split(' '))).toMatchObject(refused)
    }
    await service.end('SIGTERM')
    loseOneDocument(environment.DATA_DIR)
    const { code, output } = await petstore(environment, 'verify', '--json')
    expect(code, output).toBe(1)
    expect(JSON.parse(output).differences).toContainEqual(expect.objectContaining({ where: 'pets', id: '1' }))
    const text = { code: 1, output: expect.stringMatching(/^pets 1\n {2}expected {2}.*\n {2}found {5}nothing\n/) }
    expect(await petstore(environment, 'verify')).toMatchObject(text)
    await petstoreOutput(environment, 'verify', '--repair')
    await petstoreOutput(environment, 'verify')
    for (const suffix of ['', '-wal', '-shm'])
      rmSync(join(environment.DATA_DIR, `read-models.db${suffix}`), { force: true })
    for (const command of ['stats', 'verify', 'parked list', 'parked show 0/0', 'parked discard 0/0']) {
      const outcome = await petstore(environment, ...command.split(' '))
      const errors = expect.stringContaining('no read models yet: is a projector running?')
      expect({ command, ...outcome }).toEqual({ command, ...refused, errors })
    }
  })
})

describeWithBrokers('the command line, with brokers out of reach,', (brokers) => {
  it.each([
    ['KAFKA_BROKERS', '', /^petstore: Kafka at 127\.0\.0\.1:\d+ has not answered properly .*KAFKA_BROKERS.*\n$/],
    ['REDIS_URL', 'redis://', /^petstore: Redis at 127\.0\.0\.1:\d+ did not answer for \d+ s: start it.*\n$/],
  ])('exits with 3 where nothing answers at %s', async (variable, scheme, reason) => {
    const environment = { ...brokerEnvironment(brokers), [variable]: `${scheme}127.0.0.1:${await freePort()}` }
    await inParallel(onStorage.length, onStorage.length, async (i) => {
      const [name, args] = onStorage[i] as (typeof onStorage)[number]
      const start = performance.now()
      const outcome = await petstore(environment, ...name.split(' '), ...args, '--json')
      expect({ name, ...outcome }).toEqual({ name, code: 3, output: '', errors: expect.stringMatching(reason) })
      expect(performance.now() - start).toBeLessThan(30_000) // of which a crowded machine takes the most to start them
    })
  })
})

/** In the live read models, as nothing but a fault of a disk or a bug could. */
function loseOneDocument(folder: string): void {
  const db = new DatabaseSync(join(folder, 'read-models.db'))
  const generation = "SELECT key FROM generation WHERE state = 'active'"
  const [active] = db.prepare(`SELECT key FROM collection WHERE name = 'pets' AND generation IN (${generation})`).all()
  db.exec(`DELETE FROM collection_${active?.key} WHERE rowid IN (SELECT rowid FROM collection_${active?.key} LIMIT 1)`)
  db.close()
}
