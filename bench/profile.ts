/**
 * `node bench/profile.ts`: where the API process spends its time, by the CPU profiler of Node, under the same reads, or
 * writes, as those of the benchmarks. The figures are shares of the time in which it was not idle.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { type CpuProfile, functionOf, partOf, type SelfTime, selfTimes } from './cpu-profile.ts'
import { findClient } from './load/client.ts'
import { fill } from './pets.ts'
import { say } from './progress.ts'
import { runToEnd } from './run.ts'
import { reads, type Scenario, writes } from './scenarios.ts'
import { type Environment, embedded, onBrokers, startProcess } from './systems/service.ts'

const connections = 64
const petCount = 20_000
const {
  write,
  embedded: isEmbedded,
  seconds,
  top,
} = new Command('node bench/profile.ts')
  .description('Self times of the API process under each kind of read, or write: see bench/README.md.')
  .option('--write', 'under POST instead of the reads', false)
  .option('--embedded', 'the embedded default, instead of the API process beside Kafka and Redis', false)
  .option('--seconds <n>', 'length of the load', Number, 10)
  .option('--top <n>', 'how many lines to print of each', Number, 15)
  .parse()
  .opts<{ write: boolean; embedded: boolean; seconds: number; top: number }>()

await runToEnd(async (stack) => {
  const environment = await (isEmbedded ? embedded : onBrokers).prepare(stack)
  const scenarios = write ? writes : await readsOfFilledStore(stack, environment)
  for (const scenario of scenarios) process.stdout.write(asText(scenario, await profile(stack, environment, scenario)))
})

async function readsOfFilledStore(stack: AsyncDisposableStack, environment: Environment): Promise<Scenario[]> {
  say(`filling with ${petCount} pets`)
  const { url, end } = await startProcess(stack, environment)
  const filled = await fill(url, petCount)
  await end()
  return reads(filled)
}

/** Loads an API process that does nothing else in its life. */
async function profile(
  stack: AsyncDisposableStack,
  environment: Environment,
  { name, load }: Scenario,
): Promise<CpuProfile> {
  const client = await findClient()
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-profile-'))
  stack.defer(() => rmSync(folder, { recursive: true }))
  const { url, end } = await startProcess(stack, environment, ['--cpu-prof', `--cpu-prof-dir=${folder}`])
  say(`${name}: ${seconds} s of load`)
  await client.run({ url, load, connections, seconds })
  await end()
  const [file] = readdirSync(folder)
  if (file === undefined) throw new Error('Node wrote no profile')
  return JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

function asText({ name }: Scenario, recorded: CpuProfile): string {
  const parts = selfTimes(recorded, partOf).slice(0, top)
  const functions = selfTimes(recorded, functionOf).slice(0, top)
  return `${name}: by part\n${lines(parts)}\n${name}: by function\n${lines(functions)}\n`
}

function lines(times: readonly SelfTime[]): string {
  return times.map(({ share, place }) => `${(share * 100).toFixed(1).padStart(5)} %  ${place}\n`).join('')
}
