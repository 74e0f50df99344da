/** `npm run bench:publish`: what the topics of events and of documents cost, and how soon they tell. See README.md. */
import { readdirSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { until } from '../test/brokers/ready.ts'
import { metric } from '../test/lib/http-client.ts'
import type { Load, LoadClient } from './load/load.ts'
import { paced, quantile } from './load/paced.ts'
import { findClient } from './load/wrk.ts'
import { spreadOf } from './rounds.ts'
import { count, type MeasureOptions, printJson, runToEnd, say, withRounds } from './run.ts'
import { addPet, get, post } from './scenarios.ts'
import type { Server } from './systems/child.ts'
import { cpuTime } from './systems/cpu-time.ts'
import { kafkaOf } from './systems/kafka-client.ts'
import { startConsumer } from './systems/published-consumer.ts'
import { type Environment, startProcess, withBrokers } from './systems/service.ts'
import { asRatio, table } from './table.ts'

interface Options extends MeasureOptions {
  readonly connections: number
  readonly catchUp: number
}

const command = new Command('npm run bench:publish --')
  .description('What publishing costs the service and those who write, and how soon it tells: see bench/README.md.')
  .option('--connections <n>', 'connections of the client that adds pets', count, 64)
  .option('--catch-up <n>', 'pets of the log that is published from its beginning', count, 200_000)
const options = withRounds(command, 'nothing published, events, documents too').parse().opts<Options>()

const settleMs = 300_000
const warmUpSeconds = 8
const rates = [100, 2000]
const filling = 'published_filling'
const publishes = ['none', 'events', 'events,documents'] as const
type Publishes = (typeof publishes)[number]

/** One round of a service that publishes or not. */
interface Figures {
  readonly perSecond: number
  /** Microseconds of CPU for each event: of the service, and of the brokers of Kafka. */
  readonly own: number
  readonly kafka: number
  /** Milliseconds of a POST at half of the highest rate. */
  readonly p50: number
  readonly p99: number
}
type Cycle = Readonly<Record<Publishes, Figures>>

interface Told {
  readonly what: string
  readonly rate: number
  /** Milliseconds from the 201 to a consumer. */
  readonly p50: number
  readonly p99: number
}

await runToEnd(async (stack) => {
  const client = await findClient()
  const environment = await withBrokers(stack)
  const services = {} as Record<Publishes, Server>
  for (const PUBLISH of publishes) services[PUBLISH] = await startProcess(stack, ownTopic(environment, PUBLISH))
  for (const each of publishes) await atHighest(services[each], client, warmUpSeconds)
  const cycles: Cycle[] = []
  for (let round = 0; round < options.rounds; round++) {
    const cycle = {} as Record<Publishes, Figures>
    const half = await halfOf(services, client)
    for (const each of publishes) cycle[each] = await measured(services[each], client, half)
    cycles.push(cycle)
    say(JSON.stringify(cycle))
  }
  const told: Told[] = []
  const both = 'events,documents'
  const { KAFKA_BROKERS = '', KAFKA_TOPIC } = ownTopic(environment, both)
  for (const what of ['published', 'documents.pets']) {
    const seen = await startConsumer(stack, KAFKA_BROKERS, `${KAFKA_TOPIC}.${what}`)
    for (const rate of rates) told.push({ what, ...(await howSoon(services[both], seen, rate)) })
  }
  const caughtUp = await catchUp(stack, environment, client)
  if (options.json) printJson({ client: client.name, ...options, cycles, told, caughtUp })
  else process.stdout.write(report(cycles, told, caughtUp))
})

function ownTopic(environment: Environment, PUBLISH: string): Environment {
  const name = `${environment.KAFKA_TOPIC}-${PUBLISH.replace(',', '-')}`
  return { ...environment, PUBLISH, KAFKA_TOPIC: name, REDIS_PREFIX: name }
}

/** Half of the highest rate of the slower one. */
async function halfOf(services: Record<Publishes, Server>, client: LoadClient): Promise<number> {
  const highest: number[] = []
  for (const each of publishes) highest.push((await atHighest(services[each], client, options.seconds)).perSecond)
  return Math.round(Math.min(...highest) / 2)
}

async function measured(service: Server, client: LoadClient, half: number): Promise<Figures> {
  const highest = await atHighest(service, client, options.seconds)
  const { latencies } = await paced(service.url, post, half, options.seconds)
  await settled(service)
  return { ...highest, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
}

/** CPU is counted until all of it is published. */
async function atHighest(service: Server, client: LoadClient, seconds: number) {
  const [own, kafka] = [cpuTime(service.pid), cpuOfKafka()]
  const { requestsPerSecond } = await client.run({
    url: service.url,
    load: post,
    connections: options.connections,
    seconds,
  })
  await settled(service)
  const events = requestsPerSecond * seconds
  return {
    perSecond: requestsPerSecond,
    own: (cpuTime(service.pid) - own) / events,
    kafka: (cpuOfKafka() - kafka) / events,
  }
}

async function settled({ url }: Server): Promise<void> {
  await until(`${url} has published everything`, settleMs, async () => {
    const [applied, published] = await Promise.all([
      metric(url, 'petstore_projection_lag_events'),
      metric(url, 'petstore_published_lag_events'),
    ])
    return applied + published === 0
  })
}

async function howSoon({ url }: Server, seen: ReadonlyMap<string, number>, rate: number): Promise<Omit<Told, 'what'>> {
  const { answered } = await paced(url, post, rate, options.seconds * 2)
  await until('all are told', settleMs, async () => [...answered.keys()].every((id) => seen.has(id)))
  const late = [...answered].map(([id, at]) => Math.max(0, (seen.get(id) ?? Number.NaN) - at))
  const sorted = late.toSorted((one, other) => one - other)
  return { rate, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
}

/** A log that was there before is published; then its pets are copied into the topic of documents, at rest and under load. */
async function catchUp(stack: AsyncDisposableStack, environment: Environment, client: LoadClient) {
  const own = ownTopic(environment, 'later')
  const silent = await startProcess(stack, { ...own, PUBLISH: 'none' })
  let pets = 0
  for (const seconds = 5; pets < options.catchUp; ) {
    const { requestsPerSecond } = await client.run({ url: silent.url, load: post, connections: 256, seconds })
    pets += requestsPerSecond * seconds
  }
  await settled(silent)
  await silent.end()
  const events = await caughtUp(await startProcess(stack, { ...own, PUBLISH: 'events' }), 'published_lag_events', pets)
  await events.service.end()
  const filled = await caughtUp(await startProcess(stack, { ...own, PUBLISH: 'documents' }), filling, pets)
  const { service } = filled
  const alone = await underLoad(service, client)
  await deleteTopics(own, 'documents.pets', 'documents.orders')
  await until('filling has begun anew', settleMs, async () => (await figure(service, filling)) > 0)
  const meanwhile = await underLoad(service, client)
  const isOver = (await figure(service, filling)) === 0
  const ratio = { get: meanwhile.get / alone.get, post: meanwhile.post / alone.post, isOver }
  return { pets: Math.round(pets), events: events.costs, filled: filled.costs, ratio }
}

function figure({ url }: Server, name: string): Promise<number> {
  return metric(url, `petstore_${name}`)
}

/** Pets a second until a figure is 0 again, and microseconds of CPU for each. */
async function caughtUp(service: Server, name: string, pets: number) {
  await until(`${name} has begun`, settleMs, async () => (await figure(service, name)) > 0)
  const [start, cpu] = [performance.now(), cpuTime(service.pid)]
  await until(`${name} is over`, settleMs, async () => (await figure(service, name)) === 0)
  const seconds = (performance.now() - start) / 1000
  return { service, costs: { perSecond: pets / seconds, own: (cpuTime(service.pid) - cpu) / pets } }
}

/** Answers a second. */
async function underLoad({ url }: Server, client: LoadClient): Promise<{ get: number; post: number }> {
  const { connections, seconds } = options
  const path = new URL(await addPet(url, { name: 'Rex', categoryId: 7, status: 'available' }), url).pathname
  const rateOf = async (load: Load) => (await client.run({ url, load, connections, seconds })).requestsPerSecond
  return { get: await rateOf(get([path])), post: await rateOf(post) }
}

async function deleteTopics({ KAFKA_BROKERS = '', KAFKA_TOPIC }: Environment, ...names: string[]): Promise<void> {
  const admin = kafkaOf(KAFKA_BROKERS.split(',')).admin()
  await admin.connect()
  await admin.deleteTopics({ topics: names.map((name) => `${KAFKA_TOPIC}.${name}`) })
  await admin.disconnect()
}

/** Microseconds, of all brokers on this machine. */
function cpuOfKafka(): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const brokers = pids.filter((pid) => commandOf(pid).includes('kafka.Kafka'))
  return brokers.reduce((sum, pid) => sum + cpuTime(Number(pid)), 0)
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return '' // it has ended
  }
}

function report(
  cycles: readonly Cycle[],
  told: readonly Told[],
  { pets, events, filled, ratio }: Awaited<ReturnType<typeof catchUp>>,
): string {
  const rows: readonly [string, number, (is: Figures, was: Figures) => number][] = [
    ['POST at its highest rate, with to without', 2, (is, was) => is.perSecond / was.perSecond],
    ['POST at half of that, median, with to without', 2, (is, was) => is.p50 / was.p50],
    ['POST at half of that, 99th, with to without', 2, (is, was) => is.p99 / was.p99],
    ['µs of the service for each event, with less without', 0, (is, was) => is.own - was.own],
    ['µs of the brokers for each event, with less without', 0, (is, was) => is.kafka - was.kafka],
  ]
  const column = (publish: 'events' | 'events,documents') => ({
    title: `${publish}: median (min-max)`,
    cell: ([, digits, figureOf]: (typeof rows)[number]) =>
      asRatio(spreadOf(cycles.map((cycle): number => figureOf(cycle[publish], cycle.none))), digits),
  })
  const costs = table([{ title: '', cell: ([name]) => name }, column('events'), column('events,documents')], rows)
  const soon = told.map(
    ({ what, rate, p50, p99 }) =>
      `${rate} pets/s: in ${what} ${p50.toFixed(0)} ms after the 201 (99th ${p99.toFixed(0)} ms)\n`,
  )
  const at = ({ perSecond, own }: { perSecond: number; own: number }) =>
    `${perSecond.toFixed(0)} pets/s, ${own.toFixed(0)} µs of the service each`
  return [
    `${costs}\n${soon.join('')}catching up ${pets} pets: ${at(events)}\ncopying their documents: ${at(filled)}\n`,
    `meanwhile, to without: GET by id ${ratio.get.toFixed(2)}, POST ${ratio.post.toFixed(2)}`,
    ratio.isOver ? ' (the copy was over before: more pets are needed)\n' : '\n',
  ].join('')
}
