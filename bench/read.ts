/** `npm run bench`: reads of the service beside a bare Fastify and a plain service on the same Redis, in one run. See README.md. */
import { Command } from 'commander'
import { runBenchmark } from './benchmark.ts'
import { type Cycle, figuresOf, type Measuring, measureInTurn, ratioOf, type Systems, warmUp } from './rounds.ts'
import { count, type Options, say, wholeNumber, withEmbedded, withRounds } from './run.ts'
import { fill, type Read, reads } from './scenarios.ts'
import type { Server } from './systems/child.ts'
import { type CrudForm, crudForms, startCrud } from './systems/crud.ts'
import { answerOf, refuseDifference, startBare } from './systems/references.ts'
import { asLatencies, asPerSecond, asRatio, asVerdicts, type Column, table } from './table.ts'

const command = new Command('npm run bench --')
  .description('Measures reads of the service beside a bare Fastify and a plain service on Redis: see bench/README.md.')
  .option('--connections <n>', 'connections of the client, kept alive', count, 64)
  // At least enough for pages of 20 of each status.
  .option('--pets <n>', 'pets in the store', (text) => wholeNumber(text, 100, 999_999), 20_000)
const options = withEmbedded(withRounds(command, 'bare, service, plain, pipelined, bare, …'))
  .parse()
  .opts<Options & { readonly connections: number; readonly pets: number }>()
const { connections, rounds, seconds, pets } = options

/** The two forms of the plain service only where there is a Redis. */
type Name = 'bare' | 'service' | CrudForm

interface MeasuredRead {
  readonly read: Read
  readonly payloadBytes: number
  readonly forms: readonly CrudForm[]
  readonly cold: Cycle<Name>
  readonly cycles: readonly Cycle<Name>[]
}

const columns: readonly Column<ReturnType<typeof summary>>[] = [
  { title: '', cell: ({ name }) => name },
  { title: 'bytes', cell: ({ payloadBytes }) => String(payloadBytes) },
  { title: 'bare /s', cell: ({ bare }) => asPerSecond(bare) },
  { title: 'service /s', cell: ({ service }) => asPerSecond(service) },
  { title: 'to bare (min-max)', cell: ({ ratio }) => asRatio(ratio) },
  {
    title: 'target',
    cell: ({ ratio, target }) => asVerdicts([{ target: target.toFixed(2), met: ratio.median >= target }]),
  },
  ...crudForms.flatMap((form): Column<ReturnType<typeof summary>>[] => [
    { title: `${form} /s`, cell: ({ crud }) => crud[form]?.perSecond ?? '' },
    { title: `to ${form} (min-max)`, cell: ({ crud }) => asRatio(crud[form]?.ratio) },
  ]),
  { title: 'first 10 s', cell: ({ cold }) => cold.toFixed(2) },
  { title: 'bare p50/p99 ms', cell: ({ bare }) => asLatencies(bare) },
  { title: 'service p50/p99 ms', cell: ({ service }) => asLatencies(service) },
]

await runBenchmark<MeasuredRead>(options, {
  measure: async (stack, { service, url, environment }, client) => {
    say(`${service.title}: filling with ${pets} pets`)
    const filled = await fill(url, pets)
    const crud =
      environment.REDIS_URL === undefined ? new Map<CrudForm, Server>() : await startCrud(stack, environment, url)
    const measured: MeasuredRead[] = []
    for (const read of reads(filled)) measured.push(await measureRead(stack, url, crud, read, { client, ...options }))
    return measured
  },
  how: ({ name }) => `${connections} connections of ${name}, ${rounds} rounds of ${seconds} s, ${pets} pets`,
  table: (measured) => table(columns, measured.map(summary)),
  json: summary,
})

/** Measures the service beside a bare server that sends the service's own answers, and beside a plain one that reads them. */
async function measureRead(
  stack: AsyncDisposableStack,
  url: string,
  crud: ReadonlyMap<CrudForm, Server>,
  read: Read,
  measuring: Measuring,
): Promise<MeasuredRead> {
  const { name, load } = read
  const answer = await answerOf(url, load)
  const bare = await startBare(stack, load, answer)
  for (const [form, { url }] of crud) refuseDifference(form, await answerOf(url, load), answer)
  const systems: Systems<Name> = [
    { name: 'bare', url: bare.url, load },
    { name: 'service', url, load },
    ...[...crud].map(([name, { url }]) => ({ name, url, load })),
  ]
  const cold = await warmUp(name, systems, measuring)
  const cycles = await measureInTurn(name, systems, measuring)
  await bare.end()
  return { read, payloadBytes: Buffer.byteLength(answer.body), forms: [...crud.keys()], cold, cycles }
}

function summary({ read: { name, target }, payloadBytes, forms, cold, cycles }: MeasuredRead) {
  const bare = figuresOf(cycles, 'bare')
  const service = figuresOf(cycles, 'service')
  const ratio = ratioOf(cycles, 'service', 'bare')
  const beside = (form: CrudForm) => ({
    perSecond: asPerSecond(figuresOf(cycles, form)),
    ratio: ratioOf(cycles, 'service', form),
  })
  const crud: Partial<Record<CrudForm, ReturnType<typeof beside>>> = Object.fromEntries(
    forms.map((form) => [form, beside(form)]),
  )
  const figures = { bare, service, ratio, crud, cold: ratioOf([cold], 'service', 'bare').median }
  return { name, target, payloadBytes, ...figures, cycles }
}
