import type { Command } from 'commander'
import { openScratch } from '../app/storage/files.ts'
import type { Definition } from '../definition/definition.ts'
import { inActive } from '../operations/active.ts'
import { describeGenerations } from '../operations/generations.ts'
import { rebuildAll, verdictOf, verifyAll, type WorkOptions } from '../operations/read-models.ts'
import type { Difference } from '../rebuilding/differences.ts'
import type { Verification } from '../rebuilding/verify.ts'
import { addAction, type CommandResult, exitCodes, inOneLine, type Options, operator, print, table } from './output.ts'
import { showProgress } from './progress.ts'
import { describeStats, statsSummary } from './stats.ts'
import { withStorage } from './storage.ts'

const shownDifferences = 50
const rebuilt = 'Rebuilt: the new generation has taken over.'

export function addCommands(program: Command, definition: Definition): void {
  const listing = 'List the generations of every version of the read models: state, position, lag, size'
  addAction(program.command('generations'), listing, () => listGenerations(definition))
  const rebuilding = 'Build the read models anew from the log, beside the live ones, and have them take over'
  addAction(program.command('rebuild'), rebuilding, (options: Options) => runRebuild(definition, options))
  const verifying = 'Compare everything in the live read models with the log; exit code 1 where they differ'
  addAction(
    program.command('verify').option('--repair', 'rebuild where they differ'),
    verifying,
    (options: VerifyOptions) => runVerify(definition, options),
  )
  addAction(program.command('stats'), statsSummary(definition.resources), () => countAll(definition))
}

async function listGenerations(definition: Definition): Promise<CommandResult> {
  const described = await withStorage(definition, (storage) => describeGenerations(definition, storage))
  const collections = definition.resources.map(({ collection }) => collection)
  const titles = collections.map((each) => each.toUpperCase())
  const generations = table(
    ['VERSION', 'GENERATION', 'STATE', 'SINCE', 'POSITION', 'LAG', ...titles, 'PARKED'],
    described.generations.map(({ version, name, state, since, position, lag, documents, parked }) => {
      const figures = [position, lag, ...collections.map((each) => documents?.[each]), parked]
      return [version, name, state, since, ...figures.map((figure) => String(figure ?? '?'))]
    }),
  )
  const versions = table(
    ['VERSION', 'LAST USED'],
    described.versions.map(({ version, renewed, isOwn }) => [
      `${version}${isOwn ? ' (of this release)' : ''}`,
      renewed,
    ]),
  )
  const damages = described.generations.flatMap(({ name, damage }) => (damage ? `${name} is damaged: ${damage}.` : []))
  return { json: described, text: [generations, ...damages, '', versions].join('\n') }
}

/** Shows how far it is. */
async function withProgress<T>(
  definition: Definition,
  json: boolean,
  work: (options: WorkOptions) => Promise<T>,
): Promise<T> {
  const progress = showProgress(json)
  return await withStorage(definition, ({ log, stores }, logger) =>
    work({ definition, log, stores, logger, update: progress.update }),
  ).finally(() => progress.end())
}

async function runRebuild(definition: Definition, { json = false }: Options): Promise<CommandResult> {
  const interrupted = new AbortController()
  // Each time: npm passes on what the terminal has sent here too, and the second one must not end this at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  const outcome = await withProgress(definition, json, (options) =>
    rebuildAll({ ...options, signal: interrupted.signal }, operator()),
  )
  if (outcome === 'activated') return { json: { outcome }, text: rebuilt }
  throw new Error('Interrupted. Another rebuild goes on from here; without one, what was built is removed in time.')
}

interface VerifyOptions extends Options {
  readonly repair?: boolean
}

async function runVerify(
  definition: Definition,
  { json = false, repair = false }: VerifyOptions,
): Promise<CommandResult> {
  const verification = await withProgress(definition, json, (options) => verifyAll(options, openScratch))
  const { generation, differences, differenceCount, compared } = verification
  if (!json) await print(describeVerification(verification)) // before a rebuild, which may fail
  const repaired = repair && differenceCount > 0
  if (repaired) await runRebuild(definition, { json })
  else if (differenceCount > 0) process.exitCode = exitCodes.notAsItShouldBe
  return { json: { generation, differences, differenceCount, compared, repaired }, text: repaired ? rebuilt : '' }
}

export function describeVerification(verification: Verification): string {
  const { generation, differences, differenceCount } = verification
  const shown = differences.slice(0, shownDifferences)
  const more = differenceCount - shown.length
  const inJson = differences.length === differenceCount ? 'them all' : `the first ${differences.length}`
  return [
    ...shown.map(describeDifference),
    ...(more > 0 ? [`… and ${more} more: --json has ${inJson}.`] : []),
    `Generation ${generation}: ${verdictOf(verification)}`,
  ].join('\n')
}

function describeDifference({ where, id, expected = 'nothing', found = 'nothing' }: Difference): string {
  return `${where} ${inOneLine(id)}\n  expected  ${inOneLine(expected)}\n  found     ${inOneLine(found)}`
}

/** From the recorded sizes, which every read proves. */
async function countAll(definition: Definition): Promise<CommandResult> {
  const contents = await withStorage(definition, ({ stores }) =>
    inActive(stores, ({ inspection }, name) => inspection.recorded(name)),
  )
  const count = (set: string) => contents.reduce((sum, { sizes }) => sum + (sizes.get(set) ?? 0), 0)
  return describeStats(definition.resources, count)
}
