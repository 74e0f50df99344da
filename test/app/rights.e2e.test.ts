import { readFileSync } from 'node:fs'
import kafkajs, { type AclEntry } from 'kafkajs'
import { expect, it, onTestFinished } from 'vitest'
import { certificates } from '../brokers/certificates.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka, startRedis } from '../brokers/processes.ts'
import { askKafka, askRedis } from '../brokers/ready.ts'
import { Client, codeOf, createMany } from '../e2e/client.ts'
import {
  brokerEnvironment,
  expectRefused,
  expectVerified,
  petstore,
  startService,
  startUnready,
  untilReady,
} from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
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

describeWithLocalBrokers('with the rights that docs/operations.md names, and no others', () => {
  it('each role does all of its work, and says in one line which right is missing', { timeout }, async () => {
    const { ca, cert, key, both } = certificates(temporaryFolder())
    const [kafka, redis] = await Promise.all([startKafkaWithRights(ca, both), startRedis({})])
    onTestFinished(async () => void (await Promise.all([kafka.remove(), redis.remove()])))
    await grantInKafka(kafka.brokers, ca)
    await grantInRedis(redis.url)

    const redisUrl = redis.url.replace('redis://', `redis://petstore:${password}@`)
    const names = { KAFKA_TOPIC: 'petstore.pets', REDIS_PREFIX: 'petstore' }
    const tls = { KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key }
    const sasl = { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: password }
    const brokers = brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl })
    const as = (user: string, ROLE = '') => ({
      ...{ ...brokers, ...names, ...tls, ...sasl },
      ...{ KAFKA_SASL_USERNAME: `petstore-${user}`, ROLE, LOG_LEVEL: 'trace' },
    })
    const operator = as('operator')

    await expectRefused(as('projector', 'projector'), /refuses to create topic petstore\.pets/)
    const otherTopic = { ...as('api', 'api'), KAFKA_TOPIC: 'orders' }
    await expectRefused(otherTopic, /refuses to create topic orders/)

    const api = await startUnready(as('api', 'api'))
    const projector = await startService(as('projector', 'projector'))
    await untilReady(api)
    const client = new Client(api)
    const [pet] = await createMany(client, 20)
    const order = await client.order(pet?.id ?? 0)
    expect((await client.update(order.id, 'approved')).status).toBe(200)
    await expectVerified(operator)
    const said = await Promise.all(['rebuild', 'stats', 'events'].map((command) => petstore(operator, command)))
    expect(said.map(({ code, errors }) => [code, code === 0 ? '' : errors])).toEqual(said.map(() => [0, '']))
    expect(said.at(-1)?.output).toContain('petstore.OrderApproved.v1')
    await expect.poll(async () => (await client.request('/v1/pets')).status, { timeout: 20_000 }).toBe(200)
    const worked = [api.output(), projector.output(), JSON.stringify(said)]
    for (const each of worked) expect(/AUTHORIZATION_FAILED|not authorized|NOPERM/i.test(each)).toBe(false)
    expect(await askRedis(redis.url, (admin) => admin.call('ACL', 'LOG'))).toEqual([])
    await expect(askRedis(redisUrl, (user) => user.set('of-somebody-else', '1'))).rejects.toThrow('NOPERM')
    await expect(askRedis(redisUrl, (user) => user.flushall())).rejects.toThrow('NOPERM')

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

function startKafkaWithRights(ca: string, both: string) {
  const credentials = users.map((name) => `user_${name}="${password}"`).join(' ')
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  return startKafka({
    access: { ssl: { ca: readFileSync(ca, 'utf8') }, sasl: login('admin') },
    config: {
      'listener.security.protocol.map': 'PLAINTEXT:SASL_SSL,CONTROLLER:PLAINTEXT',
      ...{ 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': both },
      ...{ 'ssl.truststore.type': 'PEM', 'ssl.truststore.location': ca },
      'sasl.enabled.mechanisms': 'PLAIN',
      'sasl.mechanism.inter.broker.protocol': 'PLAIN',
      'listener.name.plaintext.plain.sasl.jaas.config': `${module} required username="admin" password="${password}" ${credentials};`,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:admin;User:ANONYMOUS', // the latter on the listener of the controller
    },
  })
}

function login(username: string) {
  return { mechanism: 'plain', username, password } as const
}

async function grantInRedis(url: string): Promise<void> {
  const [acl = ''] = commands.filter((command) => command.startsWith('redis-cli'))
  const [, ...args] = acl.split(' ').slice(1)
  await askRedis(url, (admin) => admin.call('ACL', ...args))
}

async function grantInKafka(brokers: string, ca: string): Promise<void> {
  const ssl = { ca: readFileSync(ca, 'utf8') }
  const kafka = new kafkajs.Kafka({ brokers: [brokers], ssl, sasl: login('admin'), logLevel: 0 })
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
