import '../brokers/process-setup.ts'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import type { ServiceName } from '../judge/history.ts'
import { type Phase, phases, runCampaign, type ScenarioName, scenarios } from './campaign.ts'
import type { FaultSummary } from './journal.ts'
import { describeContradiction, faultTable } from './report.ts'
import { served } from './served.ts'
import type { Outcome } from './trial.ts'

const names = Object.keys(scenarios) as ScenarioName[]

interface Options {
  readonly seed: number
  readonly seeds: number
  readonly minutes: number
  readonly scenario?: ScenarioName
  readonly service: ServiceName
  readonly only?: Phase
  readonly json?: string
}

const program = new Command('campaign')
  .description('Throws faults at real brokers and processes, and compares every answer with the log')
  .option('--seed <n>', 'what the faults are drawn from', whole, 1)
  .option('--seeds <n>', 'how many seeds, one after the other', whole, 1)
  .option('--minutes <n>', 'how long there are faults, for each seed', positive, 1)
  .addOption(new Option('--scenario <name>', 'by default the seeds take turns').choices(names))
  .addOption(new Option('--service <name>', 'what is served').choices(Object.keys(served)).default('petstore'))
  .addOption(new Option('--only <phase>', 'by default half of the time each').choices(phases))
  .option('--json <file>', 'write the faults of all seeds to a file')
const { seed: first, seeds, minutes, scenario: given, service, only, json } = program.parse().opts<Options>()

/** What a signal has to end before this process: brokers, services, file systems. */
const interrupted = new AsyncDisposableStack()
let isInterrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (isInterrupted) return // npm passes on what the terminal has sent here too
    isInterrupted = true
    void interrupted.disposeAsync().finally(() => process.exit(1))
  })
}

const faults: FaultSummary[] = []
let [failed, count, answers, severals] = [0, 0, 0, 0]
for (let seed = first; seed < first + seeds; seed++) {
  const scenario = given ?? (names[seed % names.length] as ScenarioName)
  const folder = mkdtempSync(join(tmpdir(), `petstore-campaign-${seed}-`))
  const started = performance.now()
  const stack = interrupted.use(new AsyncDisposableStack())
  const outcome = await runCampaign(stack, {
    served: served[service],
    seed,
    scenario,
    minutes,
    phases: only === undefined ? phases : [only],
    folder,
  }).catch((error: unknown) => error as Error)
  await stack.disposeAsync()
  const seconds = Math.round((performance.now() - started) / 1000)
  if (outcome instanceof Error) {
    failed++
    say(`seed ${seed}, ${scenario}: THE CAMPAIGN FAILED after ${seconds} s, kept in ${folder}: ${outcome.stack}`)
    continue
  }
  faults.push(...outcome.faults)
  count += outcome.faultCount
  answers += outcome.answers
  severals += outcome.severals
  const verdict = outcome.contradictions.length === 0 ? 'no contradiction' : 'CONTRADICTED'
  const told = `${outcome.faultCount} faults, ${outcome.answers} answers, ${outcome.severals} records of several events`
  say(`seed ${seed}, ${service} on ${scenario}: ${told}, ${seconds} s: ${verdict}`)
  if (outcome.contradictions.length === 0) rmSync(folder, { recursive: true, force: true })
  else {
    failed++
    keep(folder, outcome)
  }
}
say(`${seeds} seeds, ${count} faults, ${answers} answers, ${severals} records of several events,`)
say(`${failed} contradicted or failed\n`)
say(faultTable(faults))
if (json !== undefined) writeFileSync(json, JSON.stringify(faults))
process.exit(failed === 0 ? 0 : 1)

function positive(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0) throw new InvalidArgumentError('It has to be a number above 0.')
  return value
}

function whole(text: string): number {
  const value = positive(text)
  if (!Number.isSafeInteger(value)) throw new InvalidArgumentError('It has to be a whole number.')
  return value
}

function keep(folder: string, { contradictions, histories }: Outcome): void {
  mkdirSync(join(folder, 'histories'))
  for (const [index, history] of histories.entries()) {
    writeFileSync(join(folder, 'histories', `${index}.json`), JSON.stringify(history))
  }
  writeFileSync(join(folder, 'histories', 'contradictions.json'), JSON.stringify(contradictions, null, 1))
  say(`  kept in ${folder}: the histories, and the logs of the processes`)
  const byRule = Map.groupBy(contradictions, ({ rule }) => rule)
  for (const [rule, same] of byRule) say(`  ${same.length} times ${rule}`)
  if (contradictions[0] !== undefined) say(describeContradiction(contradictions[0]))
}

function say(what: string): void {
  process.stdout.write(`${what}\n`)
}
