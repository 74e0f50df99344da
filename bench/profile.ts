/**
 * `node bench/profile.ts`: where the API process spends its time, by the CPU profiler of Node, under the same reads, or
 * writes, as those of the benchmarks; or the projector, while it replays a log. The figures are shares of the time in
 * which the process was not idle.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { type CpuProfile, functionOf, partOf, type SelfTime, selfTimes } from './cpu-profile.ts'
import { fillLog } from './full-log.ts'
import { findClient } from './load/client.ts'
import { fill } from './pets.ts'
import { say } from './progress.ts'
import { runToEnd } from './run.ts'
import { reads, type Scenario, writes } from './scenarios.ts'

import { findBrokers } from './systems/brokers.ts'
import { project as projectLog } from './systems/replayers.ts'
import { type Environment, embedded, onBrokers, startProcess, temporaryFolder } from './systems/service.ts'

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
  .description('Self times of the API process under each kind of read, or write: see bench/README.md.')
  .option('--write', 'under POST instead of the reads', false)
  .option('--embedded', 'the embedded default, instead of the API process beside Kafka and Redis', false)
  .option('--project', 'the projector instead, under a replay into Redis', false)
  .option('--seconds <n>', 'length of the load', Number, 10)
  .option('--top <n>', 'how many lines to print of each', Number, 15)
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

/** Loads an API process that does nothing else in its life. */
async function profileLoad(
  stack: AsyncDisposableStack,
  environment: Environment,
  { name, load }: Scenario,
): Promise<CpuProfile> {
  const client = await findClient()
  return await profiled(stack, async (node) => {
    const { url, end } = await startProcess(stack, environment, node)
    say(`${name}: ${seconds} s of load`)
    await client.run({ url, load, connections, seconds })
    await end()
  })
}

async function profileReplay(stack: AsyncDisposableStack): Promise<CpuProfile> {
  const brokers = await findBrokers()
  stack.defer(() => brokers.remove())
  const environment = { ...brokers.environment, DATA_DIR: temporaryFolder(stack) }
  say(`filling a log with ${events} events`)
  await fillLog('kafka', environment, { pets: events })
  return await profiled(stack, async (node) => {
    say('replaying it')
    await projectLog(stack, environment, { log: 'kafka', store: 'redis', events }, node)
  })
}

/** `run` is given the options that make one process of Node write a profile. */
async function profiled(
  stack: AsyncDisposableStack,
  run: (node: readonly string[]) => Promise<void>,
): Promise<CpuProfile> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-profile-'))
  stack.defer(() => rmSync(folder, { recursive: true }))
  await run(['--cpu-prof', `--cpu-prof-dir=${folder}`])
  const [file] = readdirSync(folder)
  if (file === undefined) throw new Error('Node wrote no profile')
  return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

function asText(name: string, recorded: CpuProfile): string {
  const parts = selfTimes(recorded, partOf).slice(0, top)
  const functions = selfTimes(recorded, functionOf).slice(0, top)
  return `${name}: by part\n${lines(parts)}\n${name}: by function\n${lines(functions)}\n`
}

function lines(times: readonly SelfTime[]): string {
  return times.map(({ share, place }) => `${(share * 100).toFixed(1).padStart(5)} %  ${place}\n`).join('')
}
