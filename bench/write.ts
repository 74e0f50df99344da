/** `npm run bench:write`: writes of the service beside a bare and a naive server, in one run. See README.md. */
import { Command } from 'commander'
import { runBenchmark } from './benchmark.ts'
import type { LoadClient, Round } from './load/load.ts'
import { type Cycle, figuresOf, measureInTurn, type Ratio, ratioOf, type Systems, warmUp } from './rounds.ts'
import { count, type Options, withEmbedded, withRounds } from './run.ts'
import { caughtUp, post, postWithoutWait } from './scenarios.ts'
import { answerOf, startBare, startNaive } from './systems/references.ts'
import { embedded, onBrokers, type RunningService, type Service } from './systems/service.ts'
import { asLatencies, asPerSecond, asRatio, asVerdicts, type Column, table } from './table.ts'

const counts = (text: string) => text.split(',').map(count)
const command = new Command('npm run bench:write --')
  .description('Measures writes of the service beside a bare Fastify and a naive server: see bench/README.md.')
  .option('--connections <n,n,…>', 'connections of the client, kept alive', counts, [1, 64, 256])
const options = withEmbedded(withRounds(command, 'bare, naive, wait=0, default, bare, …'))
  .parse()
  .opts<Options & { readonly connections: readonly number[] }>()

const manyConnections = 64
/** Until the virtual machine of Kafka has compiled its hot code too: before that each POST takes it twice as much CPU. */
const warmUpSeconds = 30

const references = ['bare', 'naive'] as const
type Reference = (typeof references)[number]
/** In the order in which they are measured. */
const systemNames = [...references, 'service, wait=0', 'service'] as const
type WriteSystem = (typeof systemNames)[number]

interface MeasuredWrite {
  readonly service: Service
  readonly connections: number
  readonly cycles: readonly Cycle<WriteSystem>[]
}

/** The results of one system. */
interface WriteSummary extends Round {
  readonly system: WriteSystem
  readonly connections: number
  /** Ratios to each reference that precedes it. */
  readonly ratios: Readonly<Partial<Record<Reference, Ratio>>>
}

interface Target {
  readonly service: Service
  readonly connections: number
  readonly system: WriteSystem
  readonly target: string
  readonly isMet: (summary: WriteSummary) => boolean
}

const targets: readonly Target[] = [
  { service: onBrokers, connections: 1, system: 'service', target: 'p50 < 1.50', isMet: ({ p50 }) => p50 < 1.5 },
  { service: onBrokers, connections: 64, system: 'service, wait=0', ...least(0.4, 'bare') },
  { service: onBrokers, connections: 64, system: 'service, wait=0', ...least(1.6, 'naive') },
  { service: onBrokers, connections: 64, system: 'service', ...least(0.25, 'bare') },
  { service: onBrokers, connections: 256, system: 'service', ...least(0.4, 'bare') },
  { service: embedded, connections: 64, system: 'service', ...least(0.5, 'bare') },
]

const columns: readonly Column<ReturnType<typeof summaries>[number]>[] = [
  { title: '', cell: ({ system }) => system },
  { title: 'connections', cell: ({ connections }) => String(connections) },
  { title: 'requests/s', cell: asPerSecond },
  { title: 'to bare (min-max)', cell: ({ ratios }) => asRatio(ratios.bare) },
  { title: 'to naive (min-max)', cell: ({ ratios }) => asRatio(ratios.naive) },
  { title: 'p50/p99 ms', cell: asLatencies },
  { title: 'targets', cell: (row) => asVerdicts(row.targets) },
]

await runBenchmark<MeasuredWrite>(options, {
  measure: measureWrites,
  how: ({ name }) => {
    const { connections, rounds, seconds } = options
    return `${connections.join(', ')} connections of ${name}, ${rounds} rounds of ${seconds} s`
  },
  table: (measured) => table(columns, measured.flatMap(summaries)),
  json: (measured) => {
    const { connections, cycles } = measured
    return { connections, systems: summaries(measured), cycles }
  },
})

async function measureWrites(
  stack: AsyncDisposableStack,
  running: RunningService,
  client: LoadClient,
): Promise<MeasuredWrite[]> {
  const { service } = running
  const systems = await startSystems(stack, running)
  for (const connections of new Set([manyConnections, Math.min(manyConnections, ...options.connections)]))
    await warmUp(service.title, systems, { client, connections }, warmUpSeconds)
  const measured: MeasuredWrite[] = []
  for (const connections of options.connections) {
    const what = `${service.title}, ${connections} connections`
    const cycles = await measureInTurn(what, systems, { ...options, client, connections })
    measured.push({ service, connections, cycles })
  }
  return measured
}

async function startSystems(
  stack: AsyncDisposableStack,
  { url, environment }: RunningService,
): Promise<Systems<WriteSystem>> {
  const answer = await answerOf(url, post)
  const bare = await startBare(stack, post, answer)
  const naive = await startNaive(stack, environment, post, answer)
  const settle = () => caughtUp(url, environment)
  return [
    { name: 'bare', url: bare.url, load: post },
    { name: 'naive', url: naive.url, load: post },
    { name: 'service, wait=0', url, load: postWithoutWait, settle },
    { name: 'service', url, load: post, settle },
  ]
}

function summaries({ service, connections, cycles }: MeasuredWrite) {
  return systemNames.map((system, index) => {
    const before = references.slice(0, index)
    const ratios = Object.fromEntries(before.map((reference) => [reference, ratioOf(cycles, system, reference)]))
    const summary: WriteSummary = { system, connections, ...figuresOf(cycles, system), ratios }
    const applies = (it: Target) => it.service === service && it.connections === connections && it.system === system
    const verdicts = targets.filter(applies).map(({ target, isMet }) => ({ target, met: isMet(summary) }))
    return { ...summary, targets: verdicts }
  })
}

function least(ratio: number, reference: Reference): Pick<Target, 'target' | 'isMet'> {
  return {
    target: `${ratio.toFixed(2)} of ${reference}`,
    isMet: ({ ratios }) => (ratios[reference]?.median ?? 0) >= ratio,
  }
}
