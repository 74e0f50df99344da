import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { recordsOf } from '../brokers/topics.ts'
import { Client, codeOf, createMany } from './client.ts'
import { grant, kafkaAcls, password, startGuardedBrokers } from './granted.ts'
import { byStream } from './published-topic.ts'
import { expectRefused, expectVerified, petstore, startService, startUnready, untilReady } from './service.ts'

const timeout = 240_000

describeWithLocalBrokers('by certificate, password and the rights that the runbook names, and no others', () => {
  it('each role does all of its work, and says in one line what is missing', { timeout }, async () => {
    const { files, redis, redisUser, asUser: as, admin } = await startGuardedBrokers()
    expect(kafkaAcls).toHaveLength(20)
    await grant(admin, kafkaAcls)
    const operator = as('operator')

    const lacks = (...names: string[]) => ({
      ...as('api', 'api'),
      ...Object.fromEntries(names.map((name) => [name, ''])),
    })
    const noTls = (to: string) => `No TLS connection to ${to} at \\S+ .*`
    await Promise.all([
      expectRefused(as('projector', 'projector'), /refuses to create topic petstore\.pets/),
      expectRefused({ ...as('api', 'api'), KAFKA_TOPIC: 'orders' }, /refuses to create topic orders/),
      expectRefused(lacks('KAFKA_TLS_CA_FILE'), new RegExp(`${noTls('Kafka')}: check KAFKA_TLS`)),
    ])

    const api = await startUnready({ ...as('api', 'api'), CONSOLE: 'true' })
    const projector = await startService(as('projector', 'projector'))
    await untilReady(api)
    const client = new Client(api)
    const [pet] = await createMany(client, 20)
    const order = await client.order(pet?.id ?? 0)
    expect((await client.update(order.id, 'approved')).status).toBe(200)
    await expectVerified(operator)
    const published = async () => byStream(await recordsOf(admin, 'petstore.pets.published'))
    const isTold = { timeout: 60_000, interval: 250 }
    await expect.poll(async () => Object.values(await published()).flat().length, isTold).toBe(22)
    const { status, body: owners } = await client.request('/console/api/projectors')
    expect([status, new Set(Object.values(owners as object)).size]).toEqual([200, 1])
    const whole = { lag: 0, filling: [], problems: [] }
    await expect
      .poll(async () => (await client.request('/console/api/published')).body, isTold)
      .toMatchObject([
        { publisher: 'events', ...whole },
        { publisher: 'documents', ...whole },
      ])
    const said = await Promise.all(
      ['rebuild', 'stats', 'published', 'events'].map((command) => petstore(operator, command)),
    )
    expect(said.map(({ code, errors }) => [code, code === 0 ? '' : errors])).toEqual(said.map(() => [0, '']))
    expect(said.at(-1)?.output).toContain('petstore.OrderApproved.v1')
    await expect.poll(async () => (await client.request('/v1/pets')).status, { timeout: 20_000 }).toBe(200)
    const worked = [api.output(), projector.output(), JSON.stringify(said)]
    for (const each of worked) expect(/AUTHORIZATION_FAILED|not authorized|NOPERM/i.test(each)).toBe(false)
    expect(await askRedis(redis.url, (admin) => admin.call('ACL', 'LOG'))).toEqual([])
    const asUser = redis.url.replace('redis://', `redis://${redisUser}`)
    await expect(askRedis(asUser, (user) => user.set('of-somebody-else', '1'))).rejects.toThrow('NOPERM')
    await expect(askRedis(asUser, (user) => user.flushall())).rejects.toThrow('NOPERM')

    await Promise.all([
      expectRefused(lacks('REDIS_TLS_CA_FILE'), new RegExp(`${noTls('Redis')}: check REDIS_URL`)),
      expectRefused(
        lacks('REDIS_TLS_CERT_FILE', 'REDIS_TLS_KEY_FILE'),
        new RegExp(`${noTls('Redis')}certificate required`, 's'),
      ),
    ])

    const readOnly = await startService(as('projector', 'api'))
    const refused = await new Client(readOnly).post({ name: 'Rex', categoryId: 7 })
    expect(codeOf(refused)).toBe('event_log_unavailable')
    const warnings = () => readOnly.output().match(/^{"level":[45]0.*$/gm)
    await expect
      .poll(warnings, { timeout: 5000 })
      .toEqual([expect.stringMatching(/Not authorized to access topics.*"Kafka: appends fail"/)])

    const everything = [...worked, readOnly.output()].join('\n')
    expect(everything).toContain('"level":10')
    const keyLines = readFileSync(files.key, 'utf8')
      .split('\n')
      .filter((line) => line.length === 64)
    expect([password, ...keyLines].filter((secret) => everything.includes(secret))).toEqual([])
  })
})
