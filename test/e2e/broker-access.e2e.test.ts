import { expect, it, onTestFinished } from 'vitest'
import { accessAs, certificateAndPassword, certificates } from '../brokers/certificates.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka, startRedis } from '../brokers/processes.ts'
import { freePort } from '../brokers/ready.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, createMany } from './client.ts'
import { brokerEnvironment, petstoreJson, startService } from './service.ts'

const password = 'the-password-of-the-brokers'
const sessionMs = 5000

/** A Kafka that listens on IPv6, with sessions that soon end, and a Redis on IPv6; and the variables to reach them. */
async function startBrokers() {
  const files = certificates(temporaryFolder())
  const [port, controller] = [await freePort(), await freePort()]
  const config = {
    ...certificateAndPassword(files, ['petstore'], password),
    listeners: `PLAINTEXT://[::]:${port},CONTROLLER://127.0.0.1:${controller}`,
    'advertised.listeners': `PLAINTEXT://[::1]:${port}`,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
    'connections.max.reauth.ms': String(sessionMs),
  }
  // kafkajs itself, with which the broker is waited for, would never be ready in such a session
  const access = { ...accessAs('petstore', password, files), reauthenticationThreshold: 1000 }
  const [kafka, redis] = await Promise.all([
    startKafka({ config, access }, { port }),
    startRedis({ args: ['--bind', '127.0.0.1', '::1'] }),
  ])
  onTestFinished(async () => void (await Promise.all([kafka.remove(), redis.remove()])))
  const redisUrl = redis.url.replace('127.0.0.1', '[::1]')
  return {
    ...brokerEnvironment({ kafkaBrokers: `[::1]:${port}`, redisUrl }),
    ...{
      KAFKA_TLS: 'true',
      KAFKA_TLS_CA_FILE: files.ca,
      KAFKA_TLS_CERT_FILE: files.cert,
      KAFKA_TLS_KEY_FILE: files.key,
    },
    ...{ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'petstore', KAFKA_SASL_PASSWORD: password },
  }
}

describeWithLocalBrokers('brokers that are reached by IPv6 and end each session after five seconds', () => {
  it('are written to and read over several sessions, and looked at by the doctor', async () => {
    const environment = await startBrokers()
    const service = await startService({ ...environment, LOG_LEVEL: 'trace' })
    const client = new Client(service)
    const authenticated = () => service.output().match(/kafkajs: Response SaslAuthenticate/g)?.length ?? 0
    const atFirst = authenticated()
    while (authenticated() < 4 * atFirst) {
      const [pet] = await createMany(client, 20)
      expect((await client.get(pet?.id ?? 0)).body).toEqual(pet)
    }
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    const warnings = service.output().match(/^{"level":[45]0.*$/gm) ?? []
    expect(warnings.filter((line) => /kafka/i.test(line))).toEqual([])

    const findings: { state: string; what: string }[] = await petstoreJson(environment, 'doctor')
    expect(findings.filter(({ state }) => state === 'failed')).toEqual([])
    const looked = findings.map(({ what }) => what)
    const { host } = new URL(environment.REDIS_URL)
    expect(looked).toEqual(expect.arrayContaining([`Kafka at ${environment.KAFKA_BROKERS}`, `Redis at ${host}`]))
  })
})
