import kafkajs, { type AclEntry } from 'kafkajs'
import { runbookOf } from '../../src/engine/operations/runbook.ts'
import { accessAs, type Certificates, certificateAndPassword, certificates } from '../brokers/certificates.ts'
import { startKafka, startRedis } from '../brokers/processes.ts'
import { askKafka, askRedis, freePort } from '../brokers/ready.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { whenDone } from '../lib/when-done.ts'
import { petstore as definition } from '../store/petstore.ts'
import { brokerEnvironment } from './service.ts'

const page = runbookOf(definition)
export const password = 'the-password-of-the-brokers'
/** The commands that the page gives, each on one line, without quotes. */
const commands = [...page.matchAll(/^(?:kafka-acls\.sh|redis-cli ACL)(?:.*\\\n)*.*$/gm)].map(([text]) =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll("'", '')
    .replaceAll('PASSWORD', password),
)
const users = ['admin', 'petstore-api', 'petstore-projector', 'petstore-operator']

const operations = kafkajs.AclOperationTypes as unknown as Record<string, number>

const resources: Readonly<Record<string, number>> = {
  topic: kafkajs.AclResourceTypes.TOPIC,
  group: kafkajs.AclResourceTypes.GROUP,
  'transactional-id': kafkajs.AclResourceTypes.TRANSACTIONAL_ID,
}

/** What the runbook has them granted. */
export const kafkaAcls = commands.filter((command) => command.startsWith('kafka-acls')).flatMap(aclsOf)

/** A Kafka and a Redis that ask for certificate and password, and give the rights of the runbook in Redis alone. */
export async function startGuardedBrokers() {
  const files = certificates(temporaryFolder())
  const { ca, cert, key } = files
  const tlsPort = await freePort()
  const redisTls = ['--tls-port', String(tlsPort), '--tls-cert-file', cert, '--tls-key-file', key]
  const [kafka, redis] = await Promise.all([
    startKafkaWithRights(files),
    startRedis({ args: [...redisTls, '--tls-ca-cert-file', ca, '--tls-auth-clients', 'yes'] }),
  ])
  whenDone(() => Promise.all([kafka.remove(), redis.remove()]))
  await grantInRedis(redis.url)
  const redisUser = `petstore:${password}@`
  const environment = {
    ...brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: `rediss://${redisUser}127.0.0.1:${tlsPort}` }),
    ...{ KAFKA_TOPIC: 'petstore.pets', REDIS_PREFIX: 'petstore' },
    ...{ KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key },
    ...{ REDIS_TLS_CA_FILE: ca, REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: key },
    ...{ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: password },
  }
  const asUser = (user: string, ROLE = '') => ({
    ...environment,
    ...{ KAFKA_SASL_USERNAME: `petstore-${user}`, ROLE, LOG_LEVEL: 'trace' },
  })
  const admin = new kafkajs.Kafka({
    ...{ brokers: [kafka.brokers], ...accessAs('admin', password, files), logLevel: 0 },
  })
  return { files, redis, redisUser, asUser, admin }
}

/** Resolves once the brokers have them. */
export async function grant(kafka: kafkajs.Kafka, acl: readonly AclEntry[]): Promise<void> {
  await askKafka(kafka, (admin) => admin.createAcls({ acl: [...acl] }))
}

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

/** The entries that one line of kafka-acls.sh adds. */
export function aclsOf(command: string): AclEntry[] {
  const principals = [...command.matchAll(/--allow-principal (\S+)/g)].map(([, principal = '']) => principal)
  const pattern = command.includes('--resource-pattern-type prefixed') ? 'PREFIXED' : 'LITERAL'
  const on = [...command.matchAll(/--(topic|group|transactional-id) (\S+)/g)]
  const named = [...command.matchAll(/--operation (\w+)/g)].map(([, name = '']) => name)
  return principals.flatMap((principal) =>
    on.flatMap(([, kind = '', resourceName = '']) =>
      named.map((name) => ({
        principal,
        resourceName,
        host: '*',
        resourceType: resources[kind] ?? 0,
        resourcePatternType: kafkajs.ResourcePatternTypes[pattern],
        operation: operations[name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()] ?? 0,
        permissionType: kafkajs.AclPermissionTypes.ALLOW,
      })),
    ),
  )
}
