import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { accessAs, certificateAndPassword, certificates } from '../brokers/certificates.ts'
import { describeWithLocalBrokers } from '../brokers/describe.ts'
import { startKafka, startRedis } from '../brokers/processes.ts'
import { askRedis, freePort } from '../brokers/ready.ts'
import { startKafkaWithScram } from '../brokers/scram.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client, codeOf, createMany } from './client.ts'
import { brokerEnvironment, petstore, petstoreJson, type ServiceProcess, startService, stop } from './service.ts'

const withinMs = { timeout: 60_000, interval: 100 }
const user = 'petstore'
const passwords = ['the-first-password', 'the-second-password', 'the-third-password'] as const

/** Files with secrets, each replaced whole, as a rotation should. */
function secretsIn(folder: string) {
  const fileOf = (name: string) => join(folder, name)
  function put(name: string, content: string): void {
    writeFileSync(fileOf(`${name}.new`), content)
    renameSync(fileOf(`${name}.new`), fileOf(name))
  }
  return { fileOf, put }
}

/** A Kafka whose sessions end after five seconds, and a Redis; both let this user in alone, with the first password. */
async function startBrokers() {
  const [kafka, redis] = await Promise.all([
    startKafkaWithScram({ 'connections.max.reauth.ms': '5000' }),
    startRedis({}),
  ])
  onTestFinished(async () => void (await Promise.all([kafka.remove(), redis.remove()])))
  let ofAdmin = redis.url
  /** Redis ends the sessions of the user, and lets it in with this password alone. */
  async function setRedisPassword(password: string): Promise<void> {
    await askRedis(ofAdmin, async (admin) => {
      await admin.call('ACL', 'SETUSER', user, 'on', 'resetpass', `>${password}`, '~*', '&*', '+@all')
      await admin.call('CLIENT', 'KILL', 'USER', user)
    })
  }
  await setRedisPassword(passwords[0])
  await askRedis(redis.url, (admin) => admin.config('SET', 'requirepass', 'of-the-admin'))
  ofAdmin = redis.url.replace('//', '//:of-the-admin@')
  await kafka.setPassword(user, passwords[0])
  const redisUrl = (password: string) => redis.url.replace('//', `//${user}:${password}@`)
  return { kafka, setRedisPassword, redisUrl }
}

/** What it says at levels that an operator sees, each line that has all of these words. */
function toldBy({ output }: ServiceProcess, ...words: string[]): string[] {
  const lines = output().match(/^{"level":[456]0.*$/gm) ?? []
  return lines.filter((line) => words.every((word) => line.includes(word)))
}

async function settingsOf({ url }: ServiceProcess): Promise<unknown> {
  const { checks } = (await (await fetch(`${url}/readyz`)).json()) as { checks: { settings?: unknown } }
  return checks.settings
}

describeWithLocalBrokers('secrets in files', () => {
  it('are rotated while the service runs; a wrong file is told, and put right without a restart', async () => {
    const { kafka, setRedisPassword, redisUrl } = await startBrokers()
    const { fileOf, put } = secretsIn(temporaryFolder())
    put('user', `${user}\n`)
    put('kafka', passwords[0])
    put('redis', redisUrl(passwords[0]))
    const { REDIS_URL: _, ...given } = brokerEnvironment({ kafkaBrokers: kafka.clientBrokers, redisUrl: '' })
    const environment = {
      ...given,
      KAFKA_SASL_MECHANISM: 'scram-sha-256',
      KAFKA_SASL_USERNAME_FILE: fileOf('user'),
      KAFKA_SASL_PASSWORD_FILE: fileOf('kafka'),
      REDIS_URL_FILE: fileOf('redis'),
    }
    const service = await startService({ ...environment, LOG_LEVEL: 'trace' })
    const client = new Client(service)
    const worksAgain = () =>
      expect.poll(async () => {
        const answer = await client.post({ name: 'Rex', categoryId: 7 }, { prefer: 'wait=5' })
        return answer.status === 201 ? (await client.get((answer.body as { id: number }).id)).status : codeOf(answer)
      }, withinMs)
    const authenticated = () => service.output().match(/SCRAM SHA256 authentication successful/g)?.length ?? 0

    // Each in a session of its own: Kafka's ends by itself, and Redis ends its own.
    put('kafka', `${passwords[1]}\n`)
    put('redis', `${redisUrl(passwords[1])}\n`)
    await Promise.all([kafka.setPassword(user, passwords[1]), setRedisPassword(passwords[1])])
    const before = authenticated()
    await expect.poll(async () => (await createMany(client, 1)) && authenticated() > before + 2, withinMs).toBe(true)
    await worksAgain().toBe(200)

    // The file of before: the servers refuse it, and say so.
    await Promise.all([kafka.setPassword(user, passwords[2]), setRedisPassword(passwords[2])])
    await expect
      .poll(async () => codeOf(await client.post({ name: 'Rex', categoryId: 7 })), withinMs)
      .toBe('event_log_unavailable')
    await expect.poll(async () => codeOf(await client.get(1)), withinMs).toBe('read_model_unavailable')
    await expect.poll(() => toldBy(service, 'Kafka', 'SASL SCRAM').length, withinMs).toBeGreaterThan(0)
    await expect.poll(() => toldBy(service, 'Redis at', 'WRONGPASS').length, withinMs).toBeGreaterThan(0)
    expect(await petstore(environment, 'stats')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/Kafka at .*SCRAM/),
    })

    // Files that are no secrets: they are named, and nothing is sent.
    put('kafka', '')
    put('redis', 'rediss://elsewhere')
    const problems = [
      `KAFKA_SASL_PASSWORD_FILE=${fileOf('kafka')} is empty.`,
      `REDIS_URL_FILE=${fileOf('redis')} has another address than at the start: start this process again to use it.`,
    ]
    for (const problem of problems) {
      await expect.poll(() => toldBy(service, problem).length, withinMs).toBeGreaterThan(0)
    }
    const warnings = problems.map((message) => ({ code: 'setting_unreadable', message }))
    expect(await settingsOf(service)).toEqual({ status: 'unreadable', warnings: expect.arrayContaining(warnings) })
    const doctor = await petstore(environment, 'doctor')
    expect([doctor.code, doctor.output]).toEqual([1, expect.stringContaining(problems[0] ?? '')])

    // And healed.
    put('kafka', passwords[2])
    put('redis', redisUrl(passwords[2]))
    await worksAgain().toBe(200)
    expect(await settingsOf(service)).toBeUndefined()
    const findings: { state: string }[] = await petstoreJson(environment, 'doctor')
    expect(findings.filter(({ state }) => state === 'failed')).toEqual([])
    await stop(service)
    for (const password of passwords) expect(service.output()).not.toContain(password)
  }, 300_000)

  it('certificates and keys too, those of another authority among them', async () => {
    const folder = temporaryFolder()
    const { ca, cert, key, both } = certificates(folder)
    const tlsPort = await freePort()
    const redisTls = ['--tls-port', `${tlsPort}`, '--tls-cert-file', cert, '--tls-key-file', key]
    const access = () => accessAs(user, passwords[0], { ca, cert, key, both })
    const [kafka, redis] = await Promise.all([
      startKafka({
        config: certificateAndPassword({ ca, cert, key, both }, [user], passwords[0]),
        access: {
          sasl: access().sasl,
          get ssl() {
            return access().ssl
          },
        },
      }),
      startRedis({ args: [...redisTls, '--tls-ca-cert-file', ca, '--tls-auth-clients', 'yes'] }),
    ])
    onTestFinished(async () => void (await Promise.all([kafka.remove(), redis.remove()])))
    const redisUrl = `rediss://127.0.0.1:${tlsPort}`
    const service = await startService({
      ...brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl }),
      ...{ KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: ca, KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key },
      ...{ REDIS_TLS_CA_FILE: ca, REDIS_TLS_CERT_FILE: cert, REDIS_TLS_KEY_FILE: key },
      ...{ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: user, KAFKA_SASL_PASSWORD: passwords[0] },
    })
    const client = new Client(service)
    const [pet] = await createMany(client, 1)
    await Promise.all([kafka.stop(), redis.stop()])
    certificates(folder)
    await Promise.all([kafka.start(), redis.start()])
    await expect.poll(async () => (await client.post({ name: 'Rex', categoryId: 7 })).status, withinMs).toBe(201)
    await expect.poll(async () => (await client.get(pet?.id ?? 0)).status, withinMs).toBe(200)
    await stop(service)
  }, 300_000)
})
