/**
 * `npm run planted-bugs [word…]`: plants each bug of the list, or those whose names have one of the words, into a copy
 * of this checkout, and runs the test that must catch it. Exits with 1 if a test does not.
 */
import '../brokers/process-setup.ts'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brokerSource, howToGetBrokers, startKafka, startRedis } from '../brokers/brokers.ts'
import type { PlantedBug } from './bug.ts'
import { plantedBugs } from './bugs.ts'
import { Checkout } from './checkout.ts'
import { type Asked, resultOf, runTests } from './test-run.ts'

type Where = Pick<Asked, 'project' | 'env'>

const words = process.argv.slice(2)
const bugs = plantedBugs.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
const checkoutsMax = 2
const began = performance.now()
let missed = 0

const folder = mkdtempSync(join(tmpdir(), 'petstore-planted-bugs-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const checkout = new Checkout(join(folder, '0'))
const others = Array.from({ length: Math.min(checkoutsMax, availableParallelism()) - 1 }, (_, index) => {
  return new Checkout(join(folder, String(index + 1)))
})

await checkTypes()
const onBrokers = Object.groupBy(bugs, ({ caughtBy: { file } }) => String(file.endsWith('.int.test.ts')))
await plantEach(onBrokers.false ?? [], { project: 'unit' })
await plantWithBrokers(onBrokers.true ?? [])
if (words.length === 0) await judgeHistories()
const took = Math.round((performance.now() - began) / 1000)
say(`${missed === 0 ? 'Each test caught its bug' : `NOT CAUGHT: ${missed}`}, after ${took} s.`)
process.exit(missed === 0 ? 0 : 1)

/** What does not compile makes any test fail. */
async function checkTypes(): Promise<void> {
  const takeOut = checkout.plant(...bugs)
  const config = join(checkout.folder, 'planted.json')
  writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', include: ['src', 'projections'] }))
  const tsc = join(checkout.folder, 'node_modules/typescript/bin/tsc')
  try {
    await promisify(execFile)(process.execPath, [tsc, '-p', config])
  } catch (error) {
    say(`The planted bugs do not compile:\n${(error as { stdout?: string }).stdout}`)
    process.exit(1)
  }
  takeOut()
}

/** Each test must pass before its bug is planted, and fail afterwards. */
async function plantEach(chosen: readonly PlantedBug[], where: Where): Promise<void> {
  if (chosen.length === 0) return
  const tests = chosen.map(({ caughtBy }) => caughtBy)
  const [files, titles] = [tests.map(({ file }) => file), tests.map(({ title }) => title)]
  const before = await runTests(checkout, { ...where, files, titles })
  const waiting: PlantedBug[] = []
  for (const bug of chosen) {
    const { status, seconds } = resultOf(before, bug.caughtBy)
    if (status === 'passed') waiting.push(bug)
    else tell(bug, seconds, `without the bug, the test has ${status}`)
  }
  async function plantNext(into: Checkout): Promise<void> {
    for (let bug = waiting.shift(); bug !== undefined; bug = waiting.shift()) await plantOne(bug, into, where)
  }
  await Promise.all([checkout, ...others].map(plantNext))
}

async function plantOne(bug: PlantedBug, into: Checkout, where: Where): Promise<void> {
  const { file, title } = bug.caughtBy
  const takeOut = into.plant(bug)
  const report = await runTests(into, { ...where, files: [file], titles: [title] })
  takeOut()
  const { status, seconds } = resultOf(report, bug.caughtBy)
  tell(bug, seconds, status === 'failed' ? undefined : `the test has ${status}`)
}

async function plantWithBrokers(chosen: readonly PlantedBug[]): Promise<void> {
  if (chosen.length === 0) return
  const source = await brokerSource()
  if (source === 'none') return say(`SKIPPED: ${chosen.length} bugs, which need brokers: ${howToGetBrokers}`)
  if (source === 'given') return await plantEach(chosen, { project: 'int' })
  const [kafka, redis] = await Promise.all([startKafka(), startRedis()])
  const env = { KAFKA_BROKERS: kafka.brokers, REDIS_URL: redis.url }
  try {
    await plantEach(chosen, { project: 'int', env })
  } finally {
    await Promise.all([kafka.remove(), redis.remove()])
  }
}

/** The bugs that the judge of campaigns must see are planted into histories, by its own test. */
async function judgeHistories(): Promise<void> {
  const file = 'test/judge/judge.unit.test.ts'
  const { success, numPassedTests } = await runTests(checkout, { project: 'unit', files: [file] })
  if (!success) missed++
  say(
    `${success ? 'caught' : 'NOT CAUGHT'}: the bugs that are planted into histories | ${numPassedTests} tests of ${file}`,
  )
}

function tell({ name, caughtBy: { file, title } }: PlantedBug, seconds: number, problem: string | undefined): void {
  if (problem !== undefined) missed++
  const outcome = problem === undefined ? `caught in ${seconds.toFixed(2)} s` : `NOT CAUGHT, ${problem}`
  say(`${outcome}: ${name} | ${file}: ${title}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
