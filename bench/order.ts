/** `npm run bench:order`: placeOrder of distinct pets beside a bare Fastify, in one run. See README.md. */
import { Command } from 'commander'
import { readConfig } from '../src/engine/app/config.ts'
import { petstore } from '../test/store/petstore.ts'
import { fillLog } from './full-log.ts'
import type { Load, Round } from './load/load.ts'
import { wrk, wrkIsThere } from './load/wrk.ts'
import { figuresOf, ratioOf } from './rounds.ts'
import { count, type MeasureOptions, runToEnd, say, withRounds } from './run.ts'
import { post, untilApplied } from './scenarios.ts'
import { answerOf, startBare } from './systems/references.ts'
import { onBrokersWith, type RunningService, startService } from './systems/service.ts'
import { asLatencies, asPerSecond, asRatio, asVerdicts, type Column, table } from './table.ts'

const target = 0.2
const warmUpSeconds = 10
/** Ids that the service must not draw during the run. */
const firstId = 1_000_000_000

type Name = 'bare' | 'placeOrder'

const command = new Command('npm run bench:order --')
  .description(
    'Measures placing orders for distinct pets on Kafka and Redis beside a bare Fastify: see bench/README.md.',
  )
  .option('--connections <n>', 'connections of the client, kept alive', count, 64)
  .option('--partitions <n>', 'partitions of the topic', count, 6)
const options = withRounds(command, 'bare, placeOrder, bare, …')
  .parse()
  .opts<MeasureOptions & { readonly connections: number; readonly partitions: number }>()
let nextId = firstId

await runToEnd(async (stack) => {
  if (!(await wrkIsThere())) throw new Error('wrk is needed: other clients cannot send each body once')
  const running = await startService(stack, onBrokersWith({ KAFKA_PARTITIONS: String(options.partitions) }))
  const answer = await answerOf(running.url, post)
  const bare = await startBare(stack, post, answer)
  await cycle(running, bare.url, warmUpSeconds)
  const cycles: Readonly<Record<Name, Round>>[] = []
  for (let round = 1; round <= options.rounds; round++) cycles.push(await cycle(running, bare.url, options.seconds))
  const ratio = ratioOf(cycles, 'placeOrder', 'bare')
  const verdict = asVerdicts([{ target: `${target}`, met: ratio.median >= target }])
  const columns: Column<Name>[] = [
    { title: `${options.connections} connections`, cell: (name) => name },
    { title: 'requests/s', cell: (name) => asPerSecond(figuresOf(cycles, name)) },
    { title: 'p50 / p99 ms', cell: (name) => asLatencies(figuresOf(cycles, name)) },
    { title: 'to bare', cell: (name) => (name === 'bare' ? '' : asRatio(ratio)) },
    { title: 'target', cell: (name) => (name === 'bare' ? '' : verdict) },
  ]
  process.stdout.write(table(columns, ['bare', 'placeOrder']))
})

async function cycle(running: RunningService, bareUrl: string, seconds: number): Promise<Record<Name, Round>> {
  const { connections } = options
  const bare = await wrk.run({ url: bareUrl, load: post, connections, seconds })
  const load = await orderable(running, Math.ceil((bare.requestsPerSecond * seconds) / 2))
  const placeOrder = await wrk.run({ url: running.url, load, connections, seconds })
  say(`bare ${bare.requestsPerSecond.toFixed(0)}/s, placeOrder ${placeOrder.requestsPerSecond.toFixed(0)}/s`)
  return { bare, placeOrder }
}

/** Orders of existing, available pets, each ordered once. */
async function orderable({ url, environment }: RunningService, pets: number): Promise<Load> {
  const ids = Array.from({ length: pets }, () => nextId++)
  await fillLog('kafka', environment, { pets, from: ids[0] ?? firstId, available: true })
  const partitions = readConfig(petstore, environment).brokers?.kafka.partitions ?? 1
  for (const id of ids.slice(-20 * partitions)) await untilApplied(`${url}/v1/pets/${id}`)
  const bodies = ids.map((petId) => JSON.stringify({ petId }))
  return { method: 'POST', paths: ids.map(() => '/v1/store/orders'), bodies }
}
