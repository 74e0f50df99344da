/** `npm run bench:publish`: what the published topic costs, and how soon it tells. See README.md. */
import { readdirSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { until } from '../test/brokers/ready.ts'
import { metric } from '../test/lib/http-client.ts'
import type { LoadClient } from './load/load.ts'
import { paced, quantile } from './load/paced.ts'
import { findClient } from './load/wrk.ts'
import { type Ratio, spreadOf } from './rounds.ts'
import { count, type MeasureOptions, printJson, runToEnd, say, withRounds } from './run.ts'
import { post } from './scenarios.ts'
import type { Server } from './systems/child.ts'
import { cpuTime } from './systems/cpu-time.ts'
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
  .option('--catch-up <n>', 'events of the log that is published from its beginning', count, 200_000)
const options = withRounds(command, 'nothing published, events published').parse().opts<Options>()

const settleMs = 300_000
const warmUpSeconds = 8
const rates = [100, 2000]
const publishes = ['none', 'events'] as const
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
  const { KAFKA_BROKERS = '', KAFKA_TOPIC } = ownTopic(environment, 'events')
  const seen = await startConsumer(stack, KAFKA_BROKERS, `${KAFKA_TOPIC}.published`)
  for (const rate of rates) told.push(await howSoon(services.events, seen, rate))
  const caughtUp = await catchUp(stack, environment, client)
  if (options.json) printJson({ client: client.name, ...options, cycles, told, caughtUp })
  else process.stdout.write(report(cycles, told, caughtUp))
})

function ownTopic(environment: Environment, PUBLISH: string): Environment {
  const name = `${environment.KAFKA_TOPIC}-${PUBLISH}`
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

async function howSoon({ url }: Server, seen: ReadonlyMap<string, number>, rate: number): Promise<Told> {
  const { answered } = await paced(url, post, rate, options.seconds * 2)
  await until('all are told', settleMs, async () => [...answered.keys()].every((id) => seen.has(id)))
  const late = [...answered].map(([id, at]) => Math.max(0, (seen.get(id) ?? Number.NaN) - at))
  const sorted = late.toSorted((one, other) => one - other)
  return { rate, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) }
}

/** Events a second, and CPU for each, of a log that was there before. */
async function catchUp(stack: AsyncDisposableStack, environment: Environment, client: LoadClient) {
  const own = ownTopic(environment, 'later')
  const silent = await startProcess(stack, { ...own, PUBLISH: 'none' })
  let events = 0
  for (const seconds = 5; events < options.catchUp; ) {
    const { requestsPerSecond } = await client.run({ url: silent.url, load: post, connections: 256, seconds })
    events += requestsPerSecond * seconds
  }
  await settled(silent)
  await silent.end()
  const service = await startProcess(stack, { ...own, PUBLISH: 'events' })
  const lag = () => metric(service.url, 'petstore_published_lag_events')
  await until('publishing has begun', settleMs, async () => (await lag()) > 0)
  const [start, from, cpu] = [performance.now(), await lag(), cpuTime(service.pid)]
  await settled(service)
  const seconds = (performance.now() - start) / 1000
  return { events: Math.round(from), perSecond: from / seconds, own: (cpuTime(service.pid) - cpu) / from }
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
  caughtUp: Awaited<ReturnType<typeof catchUp>>,
): string {
  const rows: readonly [string, number, (cycle: Cycle) => number][] = [
    ['POST at its highest rate, with to without', 2, ({ none, events }) => events.perSecond / none.perSecond],
    ['POST at half of that, median, with to without', 2, ({ none, events }) => events.p50 / none.p50],
    ['POST at half of that, 99th, with to without', 2, ({ none, events }) => events.p99 / none.p99],
    ['µs of the service for each event, with less without', 0, ({ none, events }) => events.own - none.own],
    ['µs of the brokers for each event, with less without', 0, ({ none, events }) => events.kafka - none.kafka],
  ]
  const spread = (figure: (cycle: Cycle) => number): Ratio => spreadOf(cycles.map(figure))
  const costs = table(
    [
      { title: '', cell: ([name]) => name },
      { title: 'median (min-max)', cell: ([, digits, figure]) => asRatio(spread(figure), digits) },
    ],
    rows,
  )
  const soon = told.map(
    ({ rate, p50, p99 }) => `${rate} events/s: told ${p50.toFixed(0)} ms after the 201 (99th ${p99.toFixed(0)} ms)\n`,
  )
  const { events, perSecond, own } = caughtUp
  return `${costs}\n${soon.join('')}catching up ${events} events: ${perSecond.toFixed(0)} events/s, ${own.toFixed(0)} µs of the service each\n`
}
