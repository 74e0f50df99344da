/** `npm run bench`: reads of the service beside a bare Fastify, in one run. See README.md. */
import { Command } from 'commander'
import { runBenchmark } from './benchmark.ts'
import { type Cycle, figuresOf, type Measuring, measureInTurn, ratioOf, type Systems, warmUp } from './rounds.ts'
import { count, type Options, say, wholeNumber, withEmbedded, withRounds } from './run.ts'
import { fill, type Read, reads } from './scenarios.ts'
import { answerOf, startBare } from './systems/references.ts'
import { asLatencies, asPerSecond, asRatio, asVerdicts, type Column, table } from './table.ts'

const command = new Command('npm run bench --')
  .description('Measures reads of the service beside a bare Fastify: see bench/README.md.')
  .option('--connections <n>', 'connections of the client, kept alive', count, 64)
  // At least enough for pages of 20 of each status.
  .option('--pets <n>', 'pets in the store', (text) => wholeNumber(text, 100, 999_999), 20_000)
const options = withEmbedded(withRounds(command, 'bare, service, bare, service, …'))
  .parse()
  .opts<Options & { readonly connections: number; readonly pets: number }>()
const { connections, rounds, seconds, pets } = options

interface MeasuredRead {
  readonly read: Read
  readonly payloadBytes: number
  readonly cold: Cycle<'bare' | 'service'>
  readonly pairs: readonly Cycle<'bare' | 'service'>[]
}

const columns: readonly Column<ReturnType<typeof summary>>[] = [
  { title: '', cell: ({ name }) => name },
  { title: 'bytes', cell: ({ payloadBytes }) => String(payloadBytes) },
  { title: 'bare /s', cell: ({ bare }) => asPerSecond(bare) },
  { title: 'service /s', cell: ({ service }) => asPerSecond(service) },
  { title: 'ratio (min-max)', cell: ({ ratio }) => asRatio(ratio) },
  {
    title: 'target',
    cell: ({ ratio, target }) => asVerdicts([{ target: target.toFixed(2), met: ratio.median >= target }]),
  },
  { title: 'first 10 s', cell: ({ cold }) => cold.toFixed(2) },
  { title: 'bare p50/p99 ms', cell: ({ bare }) => asLatencies(bare) },
  { title: 'service p50/p99 ms', cell: ({ service }) => asLatencies(service) },
]

await runBenchmark<MeasuredRead>(options, {
  measure: async (stack, { service, url }, client) => {
    say(`${service.title}: filling with ${pets} pets`)
    const filled = await fill(url, pets)
    const measured: MeasuredRead[] = []
    for (const read of reads(filled)) measured.push(await measureRead(stack, url, read, { client, ...options }))
    return measured
  },
  how: ({ name }) => `${connections} connections of ${name}, ${rounds} rounds of ${seconds} s, ${pets} pets`,
  table: (measured) => table(columns, measured.map(summary)),
  json: summary,
})

/** Measures the service beside a bare server that sends the service's own answers. */
async function measureRead(
  stack: AsyncDisposableStack,
  url: string,
  read: Read,
  measuring: Measuring,
): Promise<MeasuredRead> {
  const { name, load } = read
  const answer = await answerOf(url, load)
  const bare = await startBare(stack, load, answer)
  const systems: Systems<'bare' | 'service'> = [
    { name: 'bare', url: bare.url, load },
    { name: 'service', url, load },
  ]
  const cold = await warmUp(name, systems, measuring)
  const pairs = await measureInTurn(name, systems, measuring)
  await bare.end()
  return { read, payloadBytes: Buffer.byteLength(answer.body), cold, pairs }
}

function summary({ read: { name, target }, payloadBytes, cold, pairs }: MeasuredRead) {
  const bare = figuresOf(pairs, 'bare')
  const service = figuresOf(pairs, 'service')
  const ratio = ratioOf(pairs, 'service', 'bare')
  return { name, target, payloadBytes, bare, service, ratio, cold: ratioOf([cold], 'service', 'bare').median, pairs }
}
