import { readFileSync } from 'node:fs'
import kafkajs, { type AclEntry } from 'kafkajs'
import { expect, it, onTestFinished } from 'vitest'
import { runbookOf } from '../../src/engine/operations/runbook.ts'
import { accessAs, type Certificates, certificateAndPassword, certificates } from '../brokers/certificates.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka, startRedis } from '../brokers/processes.ts'
import { askKafka, askRedis, freePort } from '../brokers/ready.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { petstore as definition } from '../store/petstore.ts'
import { Client, codeOf, createMany } from './client.ts'
import {
  brokerEnvironment,
  expectRefused,
  expectVerified,
  petstore,
  startService,
  startUnready,
  untilReady,
} from './service.ts'

const page = runbookOf(definition)
const password = 'the-password-of-the-brokers'
/** The commands that the page gives, each on one line, without quotes. */
const commands = [...page.matchAll(/^(?:kafka-acls\.sh|redis-cli ACL)(?:.*\\\n)*.*$/gm)].map(([text]) =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll("'", '')
    .replaceAll('PASSWORD', password),
)
const users = ['admin', 'petstore-api', 'petstore-projector', 'petstore-operator']
const timeout = 240_000

describeWithLocalBrokers('by certificate, password and the rights that the runbook names, and no others', () => {
  it('each role does all of its work, and says in one line what is missing', { timeout }, async () => {
    const files = certificates(temporaryFolder())
    const { ca, cert, key } = files
    const tlsPort = await freePort()
    const redisTls = ['--tls-port', String(tlsPort), '--tls-cert-file', cert, '--tls-key-file', key]
    const [kafka, redis] = await Promise.all([
      startKafkaWithRights(files),
      startRedis({ args: [...redisTls, '--tls-ca-cert-file', ca, '--tls-auth-clients', 'yes'] }),
    ])
    onTestFinished(async () => void (await Promise.all([kafka.remove(), redis.remove()])))
    await grantInKafka(kafka.brokers, files)
    await grantInRedis(redis.url)

    const access = `petstore:${password}@`
    const redisUrl = `rediss://${access}127.0.0.1:${tlsPort}`
    const environment = {
      ...brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl }),
      ...{ KAFKA_TOPIC: 'petstore.pets', REDIS_PREFIX: 'petstore' },
      ...{ KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key },
      ...{ REDIS_TLS_CA_FILE: ca, REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: key },
      ...{ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: password },
    }
    const as = (user: string, ROLE = '') => ({
      ...environment,
      ...{ KAFKA_SASL_USERNAME: `petstore-${user}`, ROLE, LOG_LEVEL: 'trace' },
    })
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
    const { status, body: owners } = await client.request('/console/api/projectors')
    expect([status, new Set(Object.values(owners as object)).size]).toEqual([200, 1])
    const said = await Promise.all(['rebuild', 'stats', 'events'].map((command) => petstore(operator, command)))
    expect(said.map(({ code, errors }) => [code, code === 0 ? '' : errors])).toEqual(said.map(() => [0, '']))
    expect(said.at(-1)?.output).toContain('petstore.OrderApproved.v1')
    await expect.poll(async () => (await client.request('/v1/pets')).status, { timeout: 20_000 }).toBe(200)
    const worked = [api.output(), projector.output(), JSON.stringify(said)]
    for (const each of worked) expect(/AUTHORIZATION_FAILED|not authorized|NOPERM/i.test(each)).toBe(false)
    expect(await askRedis(redis.url, (admin) => admin.call('ACL', 'LOG'))).toEqual([])
    const asUser = redis.url.replace('redis://', `redis://${access}`)
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
    const keyLines = readFileSync(key, 'utf8')
      .split('\n')
      .filter((line) => line.length === 64)
    expect([password, ...keyLines].filter((secret) => everything.includes(secret))).toEqual([])
  })
})

function startKafkaWithRights(files: Certificates) {
  return startKafka({
    access: accessAs('admin', password, files),
    config: {
      ...certificateAndPassword(files, users, password),
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:admin;User:ANONYMOUS', // the latter on the listener of the controller
    },
  })
}

async function grantInRedis(url: string): Promise<void> {
  const [acl = ''] = commands.filter((command) => command.startsWith('redis-cli'))
  const [, ...args] = acl.split(' ').slice(1)
  await askRedis(url, (admin) => admin.call('ACL', ...args))
}

async function grantInKafka(brokers: string, files: Certificates): Promise<void> {
  const kafka = new kafkajs.Kafka({ brokers: [brokers], ...accessAs('admin', password, files), logLevel: 0 })
  const acl = commands.filter((command) => command.startsWith('kafka-acls')).flatMap(aclsOf)
  expect(acl).toHaveLength(12)
  await askKafka(kafka, (admin) => admin.createAcls({ acl }))
}

const operations = kafkajs.AclOperationTypes as unknown as Record<string, number>

/** The entries that one line of kafka-acls.sh adds. */
function aclsOf(command: string): AclEntry[] {
  const principals = [...command.matchAll(/--allow-principal (\S+)/g)].map(([, principal = '']) => principal)
  const [, kind, resourceName = ''] = /--(topic|group) (\S+) --resource-pattern-type prefixed/.exec(command) ?? []
  const named = [...command.matchAll(/--operation (\w+)/g)].map(([, name = '']) => name)
  return principals.flatMap((principal) =>
    named.map((name) => ({
      principal,
      resourceName,
      host: '*',
      resourceType: kafkajs.AclResourceTypes[kind === 'topic' ? 'TOPIC' : 'GROUP'],
      resourcePatternType: kafkajs.ResourcePatternTypes.PREFIXED,
      operation: operations[name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()] ?? 0,
      permissionType: kafkajs.AclPermissionTypes.ALLOW,
    })),
  )
}
