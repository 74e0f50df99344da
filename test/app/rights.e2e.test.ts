import { readFileSync } from 'node:fs'
import kafkajs, { type AclEntry } from 'kafkajs'
import { expect, it, onTestFinished } from 'vitest'
import { openKafkaEventLog } from '../../src/event-log/kafka/kafka-event-log.ts'
import { startKafka } from '../brokers/brokers.ts'
import { describeWithOwnBrokers } from '../brokers/describe.ts'
import { askRedis } from '../brokers/ready.ts'
import { Client, createMany } from '../e2e/client.ts'
import { expectVerified, petstoreOutput, startOwnBrokers, startService } from '../e2e/service.ts'
import { logOptions } from '../event-log/kafka-fixture.ts'
import { RecordingSubscriber } from '../event-log/recording-subscriber.ts'

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
/** The commands that the page gives, each on one line, without quotes. */
const commands = [...page.matchAll(/^(?:kafka-acls\.sh|redis-cli ACL)(?:.*\\\n)*.*$/gm)].map(([text]) =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll("'", '')
    .replaceAll('PASSWORD', 'secret'),
)
const timeout = 120_000

describeWithOwnBrokers('with the rights that docs/operations.md names, and no others', () => {
  it('it does all of its work in Redis', { timeout }, async () => {
    const { redis, environment } = await startOwnBrokers()
    const [acl = ''] = commands.filter((command) => command.startsWith('redis-cli'))
    const [, ...args] = acl.split(' ').slice(1)
    await askRedis(redis.url, (admin) => admin.call('ACL', ...args))
    const url = redis.url.replace('redis://', 'redis://petstore:secret@')
    const own = { ...environment, REDIS_URL: url, REDIS_PREFIX: 'petstore' }
    const service = await startService(own)
    const client = new Client(service)
    await createMany(client, 20)
    await expectVerified(own)
    await petstoreOutput(own, 'rebuild')
    await petstoreOutput(own, 'stats')
    expect((await client.request('/v1/pets')).status).toBe(200)
    const refused = await askRedis(redis.url, (admin) => admin.call('ACL', 'LOG'))
    expect(refused).toEqual([])
    await expect(askRedis(url, (user) => user.set('of-somebody-else', '1'))).rejects.toThrow('NOPERM')
    await expect(askRedis(url, (user) => user.flushall())).rejects.toThrow('NOPERM')
  })

  it('its log does all of its work in Kafka', { timeout }, async () => {
    const login = (username: string) => ({ mechanism: 'plain', username, password: 'secret' }) as const
    const users = ['admin', 'petstore'].map((name) => `user_${name}="secret"`).join(' ')
    const kafka = await startKafka({
      access: { sasl: login('admin') },
      config: {
        'listener.security.protocol.map': 'PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT',
        'sasl.enabled.mechanisms': 'PLAIN',
        'sasl.mechanism.inter.broker.protocol': 'PLAIN',
        'listener.name.plaintext.plain.sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required username="admin" password="secret" ${users};`,
        'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
        'super.users': 'User:admin;User:ANONYMOUS', // the latter on the listener of the controller
      },
    })
    onTestFinished(() => kafka.remove())
    const admin = new kafkajs.Kafka({ brokers: [kafka.brokers], sasl: login('admin'), logLevel: 0 }).admin()
    await admin.connect()
    const granted = commands.filter((command) => command.startsWith('kafka-acls')).flatMap(aclsOf)
    expect(granted).toHaveLength(5)
    await admin.createAcls({ acl: granted })
    await admin.disconnect()

    const options = logOptions(kafka.brokers, { topic: 'petstore.pets', sasl: login('petstore') })
    const log = await openKafkaEventLog(options)
    onTestFinished(() => log.close())
    await log.append(0, [{ key: '1', value: 'one', headers: {} }])
    const group = 'petstore.pets.projector.pets-1'
    const subscriber = await RecordingSubscriber.on(log, { group })
    onTestFinished(() => subscriber.close())
    await expect.poll(() => subscriber.of(0).flatMap(({ records }) => records).length, { timeout: 20_000 }).toBe(1)
    expect(log.warnings).toEqual([])
    const other = logOptions(kafka.brokers, { topic: 'orders', sasl: login('petstore') })
    await expect(openKafkaEventLog(other)).rejects.toThrow(/refuses to create topic orders/)
  })
})

const operations = kafkajs.AclOperationTypes as unknown as Record<string, number>

/** The entries that one line of kafka-acls.sh adds. */
function aclsOf(command: string): AclEntry[] {
  const [, principal = ''] = /--allow-principal (\S+)/.exec(command) ?? []
  const [, kind, resourceName = ''] = /--(topic|group) (\S+) --resource-pattern-type prefixed/.exec(command) ?? []
  const named = [...command.matchAll(/--operation (\w+)/g)].map(([, name = '']) => name)
  return named.map((name) => ({
    principal,
    resourceName,
    host: '*',
    resourceType: kafkajs.AclResourceTypes[kind === 'topic' ? 'TOPIC' : 'GROUP'],
    resourcePatternType: kafkajs.ResourcePatternTypes.PREFIXED,
    operation: operations[name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()] ?? 0,
    permissionType: kafkajs.AclPermissionTypes.ALLOW,
  }))
}
