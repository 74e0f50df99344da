/** `npm run bench:order`: placeOrder of distinct pets beside a bare Fastify, in one run. See README.md. */
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig } from '../src/app/config.ts'
import { answerOf } from './answer.ts'
import { fillLog } from './full-log.ts'
import { type Load, type Round, requestHeaders } from './load/load.ts'
import { wrk, wrkIsThere } from './load/wrk.ts'
import { orderOptions } from './options.ts'
import { say } from './progress.ts'
import { runToEnd } from './run.ts'
import { post } from './scenarios.ts'
import { figuresOf, ratioOf } from './statistics.ts'
import { startBare } from './systems/references.ts'
import { onBrokers, type RunningService, startService } from './systems/service.ts'
import { asLatencies, asPerSecond, asRatio, asVerdict, table } from './table.ts'

const target = 0.2
const warmUpSeconds = 10
/** Ids that the service is not to draw while this runs. */
const firstId = 1_000_000_000
const caughtUpMs = 60_000

const options = orderOptions()
let nextId = firstId

await runToEnd(async (stack) => {
  if (!(await wrkIsThere())) throw new Error('wrk is needed: other clients cannot send each body once')
  const running = await startService(stack, onBrokers)
  const answer = await answerOf(running.url, post)
  const bare = await startBare(stack, post, answer)
  await cycle(running, bare.url, warmUpSeconds)
  const cycles: Awaited<ReturnType<typeof cycle>>[] = []
  for (let round = 1; round <= options.rounds; round++) cycles.push(await cycle(running, bare.url, options.seconds))
  const ratio = ratioOf(cycles, 'placeOrder', 'bare')
  const rows = (['bare', 'placeOrder'] as const).map((name) => ({ name, figures: figuresOf(cycles, name) }))
  process.stdout.write(
    table(
      [
        { title: `${options.connections} connections`, cell: ({ name }) => name },
        { title: 'requests/s', cell: ({ figures }) => asPerSecond(figures) },
        { title: 'p50 / p99 ms', cell: ({ figures }) => asLatencies(figures) },
        { title: 'to bare', cell: ({ name }) => (name === 'bare' ? '' : asRatio(ratio)) },
        {
          title: 'target',
          cell: ({ name }) => (name === 'bare' ? '' : asVerdict(`${target}`, ratio.median >= target)),
        },
      ],
      rows,
    ),
  )
})

async function cycle(
  running: RunningService,
  bareUrl: string,
  seconds: number,
): Promise<Readonly<Record<'bare' | 'placeOrder', Round>>> {
  const { connections } = options
  const bare = await wrk.run({ url: bareUrl, load: post, connections, seconds })
  const load = await orderable(running, Math.ceil((bare.requestsPerSecond * seconds) / 2))
  const placeOrder = await wrk.run({ url: running.url, load, connections, seconds })
  say(`bare ${bare.requestsPerSecond.toFixed(0)}/s, placeOrder ${placeOrder.requestsPerSecond.toFixed(0)}/s`)
  return { bare, placeOrder }
}

/** Orders of pets that are there and available, each ordered once. */
async function orderable({ url, environment }: RunningService, pets: number): Promise<Load> {
  const ids = Array.from({ length: pets }, () => nextId++)
  await fillLog('kafka', environment, { pets, from: ids[0] ?? firstId, available: true })
  const partitions = readConfig(environment).brokers?.kafka.partitions ?? 1
  for (const id of ids.slice(-20 * partitions)) await untilFound(`${url}/v1/pets/${id}`)
  const bodies = ids.map((petId) => JSON.stringify({ petId }))
  return { method: 'POST', paths: ids.map(() => '/v1/store/orders'), bodies }
}

async function untilFound(path: string): Promise<void> {
  const deadline = performance.now() + caughtUpMs
  for (;;) {
    const response = await fetch(path, { headers: requestHeaders })
    await response.text()
    if (response.ok) return
    if (performance.now() > deadline) throw new Error(`GET ${path}: ${response.status}`)
    await delay(50)
  }
}
