import {
  type ContainerRuntimeClient,
  GenericContainer,
  getContainerRuntimeClient,
  ImageName,
  type TestContainer,
} from 'testcontainers'
import type { Controllable, KafkaBroker, KafkaOptions, RedisOptions, RedisServer } from './brokers.ts'
import { freePort, kafkaAnswers, redisAnswers, startMs, threadsOf, until, untilStopped, within } from './ready.ts'
import { kafkaEnvironment, redisTestArgs } from './settings.ts'

const images = {
  kafka: process.env.TEST_KAFKA_IMAGE || 'apache/kafka:4.3.1',
  redis: process.env.TEST_REDIS_IMAGE || 'redis:8',
}

/** Docker answers, and has the images or can pull them. */
export async function containersUsable(): Promise<boolean> {
  const client = await getContainerRuntimeClient().catch(() => undefined)
  if (!client) return false
  for (const image of Object.values(images).map((name) => ImageName.fromString(name))) {
    if (await client.image.exists(image)) continue
    try {
      await client.image.pull(image)
    } catch (error) {
      process.stderr.write(`brokers: Docker answers but has no image ${image.string}: ${String(error)}\n`)
      return false
    }
  }
  return true
}

export async function startKafka({ config, access }: KafkaOptions): Promise<KafkaBroker> {
  const client = await freePort()
  const container = new GenericContainer(images.kafka)
    .withEnvironment(kafkaEnvironment({ client, controller: await freePort() }, config))
    .withExposedPorts({ container: client, host: client })
  const brokers = `127.0.0.1:${client}`
  return { brokers, ...(await run(container, () => kafkaAnswers(brokers, access))) }
}

export async function startRedis({ args = [] }: RedisOptions): Promise<RedisServer> {
  const port = await freePort()
  const container = new GenericContainer(images.redis)
    .withCommand(['redis-server', ...redisTestArgs, ...args])
    .withExposedPorts({ container: 6379, host: port })
  const url = `redis://127.0.0.1:${port}`
  return { url, ...(await run(container, () => redisAnswers(url))) }
}

async function run(definition: TestContainer, answers: () => Promise<boolean>): Promise<Controllable> {
  const started = await definition.start()
  const client = await getContainerRuntimeClient()
  const container = client.container.getById(started.getId())
  try {
    await ready(container, answers)
  } catch (error) {
    await removeContainer(container)
    throw error
  }
  return {
    kill: async () => {
      await container.kill()
      await container.wait()
    },
    stop: async () => {
      await container.stop({ t: 30 })
    },
    start: async () => {
      await container.start()
      await ready(container, answers)
    },
    // Signals, not Docker's own pause: a paused container cannot be killed
    pause: async () => {
      await container.kill({ signal: 'SIGSTOP' })
      await untilStopped(async () => (await client.container.exec(container, ['sh', '-c', threadsOf(1)])).output)
    },
    resume: async () => {
      await container.kill({ signal: 'SIGCONT' })
    },
    remove: () => removeContainer(container),
  }
}

/** A busy machine may not end it in the time that Docker has for that, which then goes on (500), or is at it (409). */
async function removeContainer(container: Container): Promise<void> {
  let refusal: unknown
  const isGone = await within(60_000, async () => {
    try {
      await container.remove({ force: true, v: true })
      return true
    } catch (error) {
      const { statusCode } = error as { statusCode?: number }
      if (statusCode !== 404 && statusCode !== 409 && statusCode !== 500) throw error
      refusal = error
      return statusCode === 404
    }
  })
  if (!isGone) throw refusal
}

type Container = ReturnType<ContainerRuntimeClient['container']['getById']>

async function ready(container: Container, answers: () => Promise<boolean>): Promise<void> {
  await until('a broker in a container answers', startMs, async () => {
    if (await answers()) return true
    const { State } = await container.inspect()
    if (State.Running) return false
    throw new Error(`The broker ended: ${await container.logs({ stdout: true, stderr: true, tail: 40 })}`)
  })
}
