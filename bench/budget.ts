/**
 * `npm run bench:budget`: where the time of a GET by id and of a POST goes, part by part, in the process that answers: of the
 * service, beside a bare Fastify and a plain service on the same Redis, in one run. See README.md.
 */
import { Command } from 'commander'
import { newFolder } from '../test/campaign/system/new-folder.ts'
import { profileIn, profilingInto, selfTimes } from './cpu-profile.ts'
import type { Load, LoadClient } from './load/load.ts'
import { findClient } from './load/wrk.ts'
import { partOfRequest, requestParts } from './request-parts.ts'
import { count, printJson, runToEnd, say } from './run.ts'
import { fill, get, post } from './scenarios.ts'
import type { Server } from './systems/child.ts'
import { cpuTime } from './systems/cpu-time.ts'
import { crudForms, startCrudServer, storeCrud } from './systems/crud.ts'
import { answerOf, startBare } from './systems/references.ts'
import { type Environment, embedded, onBrokers, type Service, startProcess } from './systems/service.ts'
import { type Column, table } from './table.ts'

const options = new Command('npm run bench:budget --')
  .description('Where the time of a GET by id and of a POST goes. Linux only: see bench/README.md.')
  .option('--connections <n>', 'connections of the client', count, 64)
  .option('--seconds <n>', 'length of the measured load of each process', count, 10)
  .option('--warm-up <n>', 'seconds of load before', count, 5)
  .option('--pets <n>', 'pets in the store', count, 2000)
  .option('--json', 'print JSON instead of tables', false)
  .parse()
  .opts<{ connections: number; seconds: number; warmUp: number; pets: number; json: boolean }>()

interface Budget {
  readonly system: string
  /** Microseconds of CPU for each request. */
  readonly cost: number
  readonly requestsPerSecond: number
  /** The part of the cost that each part of a request takes, in microseconds. */
  readonly parts: ReadonlyMap<string, number>
}

type Start = (node: readonly string[]) => Promise<Server>

await runToEnd(async (stack) => {
  const client = await findClient()
  for (const service of [onBrokers, embedded]) {
    const ofService = stack.use(new AsyncDisposableStack())
    for (const [request, budgets] of await measureService(ofService, service, client)) {
      if (options.json) printJson({ service: service.title, request, budgets: budgets.map(asJson) })
      else process.stdout.write(`${service.title}, ${request}: µs of CPU\n\n${budgetTable(budgets)}\n`)
    }
    await ofService.disposeAsync()
  }
})

async function measureService(stack: AsyncDisposableStack, service: Service, client: LoadClient) {
  const environment = await service.prepare(stack)
  const filling = await startProcess(stack, environment)
  say(`${service.title}: filling with ${options.pets} pets`)
  const { petPaths } = await fill(filling.url, options.pets)
  const read = get(petPaths)
  const [found, added] = [await answerOf(filling.url, read), await answerOf(filling.url, post)]
  const own: Start = (node) => startProcess(stack, environment, { node })
  const reads: [string, Start][] = [['bare', (node) => startBare(stack, read, found, node)]]
  if (environment.REDIS_URL !== undefined) reads.push(...(await crudSystems(stack, environment, filling.url)))
  await filling.end()
  const writes: [string, Start][] = [['bare', (node) => startBare(stack, post, added, node)]]
  return [
    ['GET by id', await measureEach(stack, [...reads, ['service', own]], read, client)],
    ['POST', await measureEach(stack, [...writes, ['service', own]], post, client)],
  ] as const
}

async function crudSystems(stack: AsyncDisposableStack, environment: Environment, url: string) {
  await storeCrud(environment, url)
  return crudForms.map((form): [string, Start] => [form, (node) => startCrudServer(stack, environment, form, node)])
}

async function measureEach(
  stack: AsyncDisposableStack,
  systems: readonly (readonly [string, Start])[],
  load: Load,
  client: LoadClient,
): Promise<Budget[]> {
  const budgets: Budget[] = []
  for (const [system, start] of systems) budgets.push(await measure(stack, system, start, load, client))
  return budgets
}

/** A process of its own, which writes its profile when it ends. What it did before the measured load does not count. */
async function measure(
  stack: AsyncDisposableStack,
  system: string,
  start: Start,
  load: Load,
  client: LoadClient,
): Promise<Budget> {
  const folder = newFolder(stack)
  const { url, pid, end } = await start(profilingInto(folder))
  const { connections, warmUp, seconds } = options
  await client.run({ url, load, connections, seconds: warmUp })
  const from = Number(process.hrtime.bigint() / 1000n)
  const before = cpuTime(pid)
  const { requestsPerSecond } = await client.run({ url, load, connections, seconds })
  const cost = (cpuTime(pid) - before) / (requestsPerSecond * seconds)
  say(`${system}: ${requestsPerSecond.toFixed(0)} requests/s, ${cost.toFixed(1)} µs each`)
  await end()
  const shares = selfTimes(profileIn(folder), partOfRequest, from)
  return { system, cost, requestsPerSecond, parts: new Map(shares.map(({ place, share }) => [place, share * cost])) }
}

function budgetTable(budgets: readonly Budget[]): string {
  const rows = ['all', ...requestParts, 'requests/s']
  const columns: Column<string>[] = budgets.map((budget) => ({
    title: budget.system,
    cell: (row) => cell(budget, row),
  }))
  return table([{ title: '', cell: (row) => row }, ...columns], rows)
}

function cell({ cost, requestsPerSecond, parts }: Budget, row: string): string {
  if (row === 'all') return cost.toFixed(1)
  if (row === 'requests/s') return requestsPerSecond.toFixed(0)
  return (parts.get(row) ?? 0).toFixed(1)
}

function asJson({ parts, ...budget }: Budget) {
  return { ...budget, parts: Object.fromEntries(parts) }
}
