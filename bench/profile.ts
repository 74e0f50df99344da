/**
 * `npm run bench:profile`: profiles the API process with the CPU profiler of Node, under the same reads or writes as
 * the benchmarks; or the projector, while it replays a log. The figures are shares of the time in which the process was
 * not idle.
 */
import { Command } from 'commander'
import { newFolder } from '../test/campaign/system/new-folder.ts'
import { type CallFrame, type CpuProfile, profileIn, profilingInto, type SelfTime, selfTimes } from './cpu-profile.ts'
import { fillLog } from './full-log.ts'
import { findClient } from './load/wrk.ts'
import { project as projectLog } from './replay.ts'
import { count, runToEnd, say } from './run.ts'
import { fill, reads, type Scenario, writes } from './scenarios.ts'
import { type Environment, embedded, onBrokers, startProcess, withBrokers } from './systems/service.ts'

const connections = 64
const petCount = 20_000
const events = 400_000
const {
  write,
  embedded: isEmbedded,
  project,
  seconds,
  top,
} = new Command('node bench/profile.ts')
  .description('Profiles the API process or the projector, and prints self times: see bench/README.md.')
  .option('--write', 'profile POST instead of reads', false)
  .option('--embedded', 'profile embedded mode instead of the API process on Kafka and Redis', false)
  .option('--project', 'profile the projector, replaying a log into Redis', false)
  .option('--seconds <n>', 'length of the load', count, 10)
  .option('--top <n>', 'number of lines per profile', count, 15)
  .parse()
  .opts<{ write: boolean; embedded: boolean; project: boolean; seconds: number; top: number }>()

await runToEnd(async (stack) => {
  if (project) {
    process.stdout.write(asText('replay into Redis', await profileReplay(stack)))
    return
  }
  const environment = await (isEmbedded ? embedded : onBrokers).prepare(stack)
  const scenarios = write ? writes : await readsOfFilledStore(stack, environment)
  for (const scenario of scenarios) {
    process.stdout.write(asText(scenario.name, await profileLoad(stack, environment, scenario)))
  }
})

async function readsOfFilledStore(stack: AsyncDisposableStack, environment: Environment): Promise<Scenario[]> {
  say(`filling with ${petCount} pets`)
  const { url, end } = await startProcess(stack, environment)
  const filled = await fill(url, petCount)
  await end()
  return reads(filled)
}

/** Puts load on an API process that is started for this only. */
async function profileLoad(
  stack: AsyncDisposableStack,
  environment: Environment,
  { name, load }: Scenario,
): Promise<CpuProfile> {
  const client = await findClient()
  return await profiled(stack, async (node) => {
    const { url, end } = await startProcess(stack, environment, { node })
    say(`${name}: ${seconds} s of load`)
    await client.run({ url, load, connections, seconds })
    await end()
  })
}

async function profileReplay(stack: AsyncDisposableStack): Promise<CpuProfile> {
  const environment = await withBrokers(stack)
  say(`filling a log with ${events} events`)
  await fillLog('kafka', environment, { pets: events })
  return await profiled(stack, async (node) => {
    say('replaying it')
    await projectLog(stack, environment, { log: 'kafka', store: 'redis', events }, node)
  })
}

/** `run` gets the options that make one Node process write a profile. */
async function profiled(
  stack: AsyncDisposableStack,
  run: (node: readonly string[]) => Promise<void>,
): Promise<CpuProfile> {
  const folder = newFolder(stack)
  await run(profilingInto(folder))
  return profileIn(folder)
}

function asText(name: string, recorded: CpuProfile): string {
  const parts = selfTimes(recorded, partOf).slice(0, top)
  const functions = selfTimes(recorded, functionOf).slice(0, top)
  return `${name}: by part\n${lines(parts)}\n${name}: by function\n${lines(functions)}\n`
}

function lines(times: readonly SelfTime[]): string {
  return times.map(({ share, place }) => `${(share * 100).toFixed(1).padStart(5)} %  ${place}\n`).join('')
}

/** Function, file and line; V8's own names for code that is not JavaScript. */
function functionOf({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName || '(anonymous)'
  return url === '' ? name : `${name}  ${shorten(url)}:${lineNumber + 1}`
}

/** The package, the folder of this project, or Node. */
function partOf({ functionName, url }: CallFrame): string {
  if (url === '') return functionName || '(anonymous)'
  const part = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  return part ?? (url.startsWith('node:') ? 'Node' : shorten(url).replace(/\/[^/]*$/, ''))
}

function shorten(url: string): string {
  return url.replace(/^.*\/node_modules\//, '').replace(new URL('../', import.meta.url).href, '')
}
