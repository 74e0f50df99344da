import { readFileSync } from 'node:fs'
import { it, onTestFinished } from 'vitest'
import { certificates } from '../brokers/certificates.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka, startRedis } from '../brokers/processes.ts'
import { freePort } from '../brokers/ready.ts'
import { Client, createMany } from '../e2e/client.ts'
import { brokerEnvironment, expectRefused, expectVerified, startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

const timeout = 120_000

describeWithLocalBrokers('Kafka and Redis that ask for a certificate', () => {
  it('let the service in with one, and it says which is missing without', { timeout }, async () => {
    const { ca, cert, key, both } = certificates(temporaryFolder())
    const [caText, certText, keyText] = [ca, cert, key].map((file) => readFileSync(file, 'utf8')) as [
      string,
      string,
      string,
    ]
    const store = { 'ssl.keystore.type': 'PEM', 'ssl.keystore.location': both, 'ssl.client.auth': 'required' }
    const kafka = await startKafka({
      access: { ssl: { ca: caText, cert: certText, key: keyText } },
      config: {
        'listener.security.protocol.map': 'PLAINTEXT:SSL,CONTROLLER:PLAINTEXT',
        ...{ ...store, 'ssl.truststore.type': 'PEM', 'ssl.truststore.location': ca },
      },
    })
    onTestFinished(() => kafka.remove())
    const tlsPort = await freePort()
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', ca]
    const redis = await startRedis({ args: ['--tls-port', String(tlsPort), ...files, '--tls-auth-clients', 'yes'] })
    onTestFinished(() => redis.remove())

    const kafkaTls = { KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key }
    const redisTls = { REDIS_TLS_CA_FILE: ca, REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: key }
    const at = { kafkaBrokers: kafka.brokers, redisUrl: `rediss://127.0.0.1:${tlsPort}` }
    const environment = { ...brokerEnvironment(at), ...kafkaTls, ...redisTls }
    await createMany(new Client(await startService(environment)), 20)
    await expectVerified(environment)

    const lacks = (...names: string[]) =>
      Object.fromEntries(Object.entries(environment).filter(([name]) => !names.includes(name))) as typeof environment
    await expectRefused(lacks('KAFKA_TLS_CA_FILE'), /No TLS connection to Kafka at \S+ .*: check KAFKA_TLS/)
    await expectRefused(lacks('REDIS_TLS_CA_FILE'), /No TLS connection to Redis at \S+ .*: check REDIS_URL/)
    const withoutOwn = lacks('REDIS_TLS_CERT_FILE', 'REDIS_TLS_KEY_FILE')
    await expectRefused(withoutOwn, /No TLS connection to Redis at \S+ .*certificate required/s)
  })
})
