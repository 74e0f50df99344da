/** `npm run bench:cost`: what six requests cost the process of the embedded service, beside a bare Fastify. See README.md. */
import { basename, resolve } from 'node:path'
import { Command } from 'commander'
import { bare, type Costs, costTables, type Start, startsForInterval } from './cost/report.ts'
import { petCount, type RequestName, Requests, requestNames } from './cost/requests.ts'
import { CountedClient, type CountedRequest } from './load/counted.ts'
import { type Load, requestHeaders } from './load/load.ts'
import { count, printJson, runToEnd, say } from './run.ts'
import { get, post } from './scenarios.ts'
import type { Server } from './systems/child.ts'
import { cpuTime } from './systems/cpu-time.ts'
import { answerOf, startBare } from './systems/references.ts'
import { embedded, startProcess } from './systems/service.ts'

interface Options {
  readonly beside: readonly string[]
  readonly starts: number
  readonly rounds: number
  readonly warmUp: number
  readonly requests: number
  readonly connections: number
  readonly json: boolean
}

const options = new Command('npm run bench:cost --')
  .description(
    'Measures the CPU time of six requests, embedded, beside a bare Fastify. Linux only: see bench/README.md.',
  )
  .option('--beside <folders...>', 'other checkouts, with their node_modules, to compare with', [])
  .option('--starts <n>', `how often all servers are started anew; intervals need ${startsForInterval}`, count, 6)
  .option('--rounds <n>', 'rounds of each start', count, 8)
  .option('--warm-up <n>', 'rounds before those that count', count, 4)
  .option('--requests <n>', 'requests of each kind in a round', count, 1000)
  .option('--connections <n>', 'connections of the client', count, 8)
  .option('--json', 'print every round as JSON instead of tables', false)
  .parse()
  .opts<Options>()

/** A server that is measured, and how it is sent each request that it knows. */
interface Measured {
  readonly name: string
  readonly targets: Map<RequestName, Target>
}

interface Target {
  readonly server: Server
  readonly client: CountedClient
  readonly requests: Requests
}

const firstPet = '/v1/pets/1'
const here = 'this checkout'
const others = options.beside.map((folder) => [nameOf(folder), resolve(folder)] as const)
const checkouts = [[here, '.'], ...others] as const

await runToEnd(async (stack) => {
  const starts: Start[] = []
  for (let number = 1; number <= options.starts; number++) {
    say(`start ${number} of ${options.starts}`)
    const ofStart = stack.use(new AsyncDisposableStack())
    starts.push(await measureStart(ofStart))
    await ofStart.disposeAsync()
  }
  if (options.json) return printJson({ ...options, starts })
  process.stdout.write(costTables(starts, [here, ...others.map(([name]) => name)]))
})

function nameOf(folder: string): string {
  return resolve(folder) === resolve('.') ? 'the same' : basename(resolve(folder))
}

/** All servers run at the same time, and are sent each request in turn: what others do to the machine falls on all of them. */
async function measureStart(stack: AsyncDisposableStack): Promise<Start> {
  const services: Measured[] = []
  for (const [name, root] of checkouts) services.push(await startCheckout(stack, name, root))
  const servers = [await startBareServers(stack, services[0]), ...services]
  const start: Record<string, Costs[]> = Object.fromEntries(servers.map(({ name }) => [name, []]))
  for (let round = 0; round < options.warmUp + options.rounds; round++) {
    const inTurn = round % 2 === 0 ? servers : servers.toReversed()
    const costs = await measureRound(inTurn)
    if (round >= options.warmUp) for (const { name } of servers) start[name]?.push(costs.get(name) ?? {})
  }
  return start
}

async function startCheckout(stack: AsyncDisposableStack, name: string, root: string): Promise<Measured> {
  const server = await startProcess(stack, await embedded.prepare(stack), { root })
  const target = await openTarget(stack, server)
  await measure(target, 'POST', petCount + 1) // one more, to be ordered at once
  const targets = new Map<RequestName, Target>()
  for (const request of requestNames) {
    if (await isKnown(target, request)) targets.set(request, target)
    else say(`${name} does not know ${request}, which is left out`)
  }
  return { name, targets }
}

/** One for reads and one for writes, which answer as the service does. */
async function startBareServers(stack: AsyncDisposableStack, service: Measured | undefined): Promise<Measured> {
  const url = service?.targets.get('GET by id')?.server.url ?? ''
  const open = async (load: Load) => openTarget(stack, await startBare(stack, load, await answerOf(url, load)))
  const [reads, writes] = [await open(get([firstPet])), await open(post)]
  reads.requests.added(firstPet)
  const targets: [RequestName, Target][] = [
    ['GET by id', reads],
    ['POST', writes],
  ]
  return { name: bare, targets: new Map(targets) }
}

async function openTarget(stack: AsyncDisposableStack, server: Server): Promise<Target> {
  const client = await CountedClient.open(stack, server.url, options.connections)
  return { server, client, requests: new Requests() }
}

/** Uses a connection of its own, which a server may close when it refuses a request. */
async function isKnown({ server, requests }: Target, name: RequestName): Promise<boolean> {
  const [request] = requests.take(name, 1)
  const { method, path, headers, body = null } = request as CountedRequest
  const { status } = await fetch(`${server.url}${path}`, { method, headers: { ...requestHeaders, ...headers }, body })
  return status !== 404 && status !== 405
}

async function measureRound(servers: readonly Measured[]): Promise<Map<string, Costs>> {
  const costs = new Map(servers.map(({ name }): [string, Partial<Record<RequestName, number>>] => [name, {}]))
  for (const request of requestNames) {
    for (const { name, targets } of servers) {
      const target = targets.get(request)
      if (target === undefined) continue
      Object.assign(costs.get(name) ?? {}, { [request]: await measure(target, request, options.requests) })
    }
  }
  return costs
}

/** Microseconds of CPU per request. */
async function measure({ server, client, requests }: Target, name: RequestName, number: number): Promise<number> {
  const sent = requests.take(name, number)
  const before = cpuTime(server.pid)
  const answers = await client.send(sent)
  const cost = (cpuTime(server.pid) - before) / sent.length
  const failed = answers.find(({ status }) => status > 299)
  if (failed !== undefined) throw new Error(`${server.url} answered ${name} with ${failed.status}`)
  if (sent[0]?.path === '/v1/pets') for (const { location = '' } of answers) requests.added(location)
  return cost
}
