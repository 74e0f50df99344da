import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Finding } from '../../src/lib/finding.ts'
import { describeWithBrokers, describeWithOwnBrokers } from '../brokers/describe.ts'
import { askRedis, freePort } from '../brokers/ready.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { brokerEnvironment, type Environment, petstore, startOwnBrokers, startService } from './service.ts'
import { asAdmin, createTopic, idBlocksOf, produce } from './topic.ts'

async function examine(environment: Environment) {
  const { code, output, errors } = await petstore(environment, 'doctor', '--json')
  expect(errors).toBe('')
  const findings: Finding[] = JSON.parse(output)
  return { code, findings, of: (what: string) => findings.filter((each) => each.what.startsWith(what)) }
}

/** Something failed, and says what to do. */
async function expectFailed(environment: Environment, what: string, detail: RegExp): Promise<void> {
  const { code, findings, of } = await examine(environment)
  expect(code, JSON.stringify(findings)).toBe(1)
  expect(of(what)).toContainEqual(expect.objectContaining({ state: 'failed', detail: expect.stringMatching(detail) }))
}

describe('the doctor, embedded', () => {
  it('finds nothing to fear before the first start, and beside a service', async () => {
    const DATA_DIR = join(temporaryFolder(), 'data')
    const before = await examine({ DATA_DIR })
    expect([before.code, before.of('folder')[0]?.detail]).toEqual([
      0,
      expect.stringContaining('the first start makes it'),
    ])
    expect(existsSync(DATA_DIR)).toBe(false)
    const service = await startService({ DATA_DIR, API_KEYS: '' })
    const { code, findings, of } = await examine({ DATA_DIR })
    expect([code, findings.filter(({ state }) => state === 'failed')]).toEqual([0, []])
    expect(of('server')[0]?.detail).toContain('is running')
    expect(of('API keys')).toEqual([{ what: 'API keys', state: 'ok', detail: '1' }])
    await service.end('SIGTERM')
    expect((await examine({ DATA_DIR })).of('server')[0]?.detail).toContain('is not running')
  })

  it('says what is wrong', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'file')
    writeFileSync(file, '')
    await expectFailed({ DATA_DIR: file }, 'folder', /not a folder: set DATA_DIR/)
    await expectFailed({ DATA_DIR: folder, PORT: 'eighty' }, 'settings', /PORT must be/)
    await expectFailed({ DATA_DIR: folder, KAFKA_TLS: 'yes' }, 'settings', /KAFKA_TLS/)
    const keys = join(folder, 'keys.json')
    writeFileSync(keys, 'garbage')
    await expectFailed({ DATA_DIR: folder, API_KEYS_FILE: keys }, 'API keys', /keys\.json is not a file of API keys/)
    const open = join(folder, 'open')
    mkdirSync(open)
    chmodSync(open, 0o755)
    expect((await examine({ DATA_DIR: open })).of('folder')).toContainEqual(
      expect.objectContaining({ state: 'warning' }),
    )
    writeFileSync(join(open, 'event-log.db'), 'garbage'.repeat(1000))
    await expectFailed({ DATA_DIR: open }, 'event log', /not a database/)
  })
})

describeWithBrokers('the doctor, on Kafka and Redis', (brokers) => {
  it('finds nothing to fear, and makes nothing', async () => {
    const environment = brokerEnvironment(brokers)
    const { code, findings, of } = await examine(environment)
    expect([code, findings.filter(({ state }) => state === 'failed')]).toEqual([0, []])
    expect(of('topic')[0]?.detail).toContain('the first start makes it')
    expect(of('clock')[0]?.state).toBe('ok')
    const topics = await asAdmin(brokers.kafkaBrokers, (admin) => admin.listTopics())
    expect(topics).not.toContain(environment.KAFKA_TOPIC)
    await startService(environment)
    expect((await examine(environment)).of('topic')[0]?.detail).toContain('is kept as it should be')
    await expectFailed({ ...environment, KAFKA_PARTITIONS: '7' }, 'topic', /Set KAFKA_PARTITIONS=6/)
  })

  it('takes topics made by hand, as a start does', async () => {
    const environment = brokerEnvironment(brokers)
    await createTopic(environment)
    await createTopic(idBlocksOf(environment), 1)
    const { code, findings } = await examine(environment)
    expect([code, findings.filter(({ state }) => state === 'failed')]).toEqual([0, []])
  })

  it('warns of half a log, which the next start completes', async () => {
    const environment = brokerEnvironment(brokers)
    await createTopic(environment)
    expect((await examine(environment)).of('topic')).toMatchObject([
      {
        state: 'warning',
        detail: `There is no topic ${idBlocksOf(environment).KAFKA_TOPIC}: the next start makes it.`,
      },
    ])
  })

  it.each<[string, RegExp, ...object[]]>([
    ['something else in place of the identity', /is not the identity of a log/, { of: 'something else' }],
    [
      'a log whose events are gone',
      /is empty, but .* belongs to a log with events: the events are gone/,
      { epoch: 'log id', partitions: 6 },
      { epoch: 'log id', token: 'note', hasEvents: true },
    ],
  ])('refuses %s, as a start does', async (_, refusal, ...records) => {
    const environment = brokerEnvironment(brokers)
    await createTopic(environment)
    await createTopic(idBlocksOf(environment), 1)
    for (const record of records) await produce(idBlocksOf(environment), [{ value: JSON.stringify(record) }])
    await expectFailed(environment, 'topic', refusal)
  })

  it('says what does not answer', async () => {
    const environment = brokerEnvironment(brokers)
    const nowhere = `127.0.0.1:${await freePort()}`
    await expectFailed({ ...environment, KAFKA_BROKERS: nowhere }, 'Kafka', /start it, or correct KAFKA_BROKERS/)
    await expectFailed({ ...environment, REDIS_URL: `redis://${nowhere}` }, 'Redis', /did not answer/)
    const { host } = new URL(brokers.redisUrl)
    await expectFailed({ ...environment, REDIS_URL: `redis://user:wrong@${host}` }, 'Redis', /check user, password/)
  })
})

describeWithOwnBrokers('the doctor, on brokers that lose data', () => {
  it('says which setting is to blame', async () => {
    const { redis, environment } = await startOwnBrokers(['--maxmemory-policy', 'allkeys-lru'])
    await expectFailed(environment, 'Redis', /maxmemory-policy allkeys-lru/)
    await askRedis(redis.url, (admin) => admin.config('SET', 'maxmemory-policy', 'noeviction'))
    const { KAFKA_TOPIC: topic, KAFKA_BROKERS } = environment
    await startService(environment)
    const resources = [{ type: 2, name: topic, configEntries: [{ name: 'retention.ms', value: '60000' }] }]
    await asAdmin(KAFKA_BROKERS, (admin) => admin.alterConfigs({ validateOnly: false, resources }))
    await expectFailed(environment, 'topic', /retention\.ms=60000.*alter/)
  })
})
