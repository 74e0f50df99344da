import { expect, vi } from 'vitest'
import { startKafkaCluster } from '../brokers/clusters.ts'
import { type HeldRequests, heldRequests, type Kind } from '../brokers/held-requests.ts'
import { Link } from '../brokers/link.ts'
import { startKafka, startRedis } from '../brokers/processes.ts'
import { freePort } from '../brokers/ready.ts'
import { whenDone } from '../lib/when-done.ts'
import { type Client, inParallel, type Pet } from './client.ts'
import { brokerEnvironment } from './service.ts'

const patience = { timeout: 60_000, interval: 200 }

/** The requests of a transaction of a publisher in their order, by their keys in the protocol of Kafka. */
export const initProducerId: Kind = { apiKey: 22, about: '.events-' }
const addEvents: Kind = { apiKey: 24, about: '.published' }
export const produceEvents: Kind = { apiKey: 0, about: '.published' }
const addPosition: Kind = { apiKey: 24, about: '.positions' }
const producePosition: Kind = { apiKey: 0, about: '.positions' }
export const endTransaction: Kind = { apiKey: 26, about: '.events-' }
export const steps = [initProducerId, addEvents, produceEvents, addPosition, producePosition, endTransaction]
/**
 * Without these nobody stays in the group of the publishers: JoinGroup, Heartbeat, SyncGroup. Who asks for rights does it in
 * nobody's name, and any broker answers.
 */
export const groupRequests: Kind[] = [11, 12, 14].map((apiKey) => ({
  ...{ apiKey, about: '.projector.publish-', unless: 'nobody' },
}))

/** Pets are added until something has happened. */
export async function addUntil(client: Client, happens: Promise<void>): Promise<Pet[]> {
  const pets: Pet[] = []
  let hasHappened = false
  void happens.then(() => {
    hasHappened = true
  })
  await vi.waitFor(async () => {
    pets.push(...(await inParallel(6, 6, (i) => client.create(`pet ${i}`, 'available', { prefer: 'wait=0' }))))
    expect(hasHappened).toBe(true)
  }, patience)
  return pets
}

/** A listener of the brokers behind links, where requests can be kept back. */
export interface Way extends Pick<HeldRequests, 'hold'> {
  /** What a service that comes by it is given. */
  readonly brokers: string
}

interface Listener {
  readonly name: string
  readonly port: number
  readonly link: Link
}

async function openWay(name: string, nodes: number) {
  const { newPassage, hold } = heldRequests()
  const listeners: Listener[] = []
  for (let i = 0; i < nodes; i++) {
    const port = await freePort()
    const link = await Link.to(port, newPassage)
    whenDone(() => link.close())
    listeners.push({ name, port, link })
  }
  return { listeners, brokers: listeners.map(({ link }) => `127.0.0.1:${link.port}`).join(), hold }
}

function listenersOf(port: number, others: readonly Listener[]) {
  return {
    others: others.map((each) => `${each.name}://127.0.0.1:${each.port}`).join(),
    settings: {
      'advertised.listeners': [
        `PLAINTEXT://127.0.0.1:${port}`,
        ...others.map(({ name, link }) => `${name}://127.0.0.1:${link.port}`),
      ].join(),
      'listener.security.protocol.map': ['PLAINTEXT', 'CONTROLLER', ...others.map(({ name }) => name)]
        .map((name) => `${name}:PLAINTEXT`)
        .join(),
      'inter.broker.listener.name': 'PLAINTEXT',
    },
  }
}

/** A Kafka of one broker and a Redis, as local processes. There are so many ways to the broker besides the direct one. */
export async function startHeldBrokers(wayCount: number) {
  const [port, controller] = [await freePort(), await freePort()]
  const ways = await Promise.all(Array.from({ length: wayCount }, (_, i) => openWay(`WAY${i}`, 1)))
  const { others, settings } = listenersOf(
    port,
    ways.flatMap(({ listeners }) => listeners),
  )
  const config = {
    ...settings,
    listeners: `PLAINTEXT://0.0.0.0:${port},CONTROLLER://127.0.0.1:${controller},${others}`,
    'controller.quorum.voters': `1@127.0.0.1:${controller}`,
  }
  const [kafka, redis] = await Promise.all([startKafka({ config }, { port }), startRedis({})])
  whenDone(() => Promise.all([kafka.remove(), redis.remove()]))
  const newEnvironment = () => brokerEnvironment({ kafkaBrokers: kafka.brokers, redisUrl: redis.url })
  return { kafka, redis, ways: ways as readonly Way[], newEnvironment }
}

/** As `startHeldBrokers`, with three brokers and one way. */
export async function startHeldCluster() {
  const way = await openWay('WAY', 3)
  const changed = (port: number, id: number) => {
    const { others, settings } = listenersOf(port, way.listeners.slice(id - 1, id))
    return { ...settings, listeners: others }
  }
  const [cluster, redis] = await Promise.all([startKafkaCluster(changed), startRedis({})])
  whenDone(() => Promise.all([cluster.remove(), redis.remove()]))
  const environment = brokerEnvironment({ kafkaBrokers: cluster.brokers, redisUrl: redis.url })
  return { cluster, redis, way: way as Way, environment }
}
