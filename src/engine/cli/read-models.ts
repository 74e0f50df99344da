import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { openScratch } from '../app/embedded-storage.ts'
import { valuesOf } from '../definition/check.ts'
import type { Definition } from '../definition/definition.ts'
import { indexOf } from '../definition/shown-documents.ts'
import { listed } from '../definition/words.ts'
import { auditTo } from '../lib/audit.ts'
import { rebuild } from '../projector/rebuild.ts'
import { type Difference, type Verification, verify } from '../projector/verify.ts'
import { setName } from '../read-models/document.ts'
import { type Shard, shardsOf } from '../read-models/shards.ts'
import { describeGenerations } from './generations.ts'
import { addAction, type CommandResult, exitCodes, inOneLine, type Options, operator, print, table } from './output.ts'
import { type Progress, showProgress } from './progress.ts'
import { inActive, withStorage } from './storage.ts'

const shownDifferences = 50
const rebuilt = 'Rebuilt: the new generation has taken over.'

export function addCommands(program: Command, definition: Definition): void {
  const collections = definition.resources.map(({ collection }) => collection)
  const filters = [...new Set(definition.resources.flatMap(({ filters = {} }) => Object.keys(filters)))]
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
  addAction(
    program.command('stats'),
    `Show how many ${listed(collections, 'and')} there are, by ${listed(filters, 'and')}`,
    () => countAll(definition),
  )
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
  return { json: described, text: `${generations}\n\n${versions}` }
}

/** One shard after the other: each takes its part of the log, so all of it is read once. */
async function withEachShard<T>(
  definition: Definition,
  json: boolean,
  work: (shard: Shard, logger: Logger, update: Progress['update']) => Promise<T>,
): Promise<T[]> {
  const progress = showProgress(json)
  return await withStorage(definition, async ({ log, stores }, logger) => {
    const results: T[] = []
    for (const [shard, parts] of shardsOf(stores, log).entries()) {
      const name = stores.length === 1 ? '' : ` shard ${shard + 1} of ${stores.length}`
      const update: Progress['update'] = (step, ...figures) => progress.update(`${step}${name}`, ...figures)
      results.push(await work(parts, logger, update))
    }
    return results
  }).finally(() => progress.end())
}

async function runRebuild(definition: Definition, { json = false }: Options): Promise<CommandResult> {
  const interrupted = new AbortController()
  // Each time: npm passes on what the terminal has sent here too, and the second one must not end this at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  await withEachShard(definition, json, async (shard, logger, update) => {
    const progress = (done: number, total: number) => update('rebuild', done, total)
    if ((await rebuild({ ...shard, definition, logger, progress, signal: interrupted.signal })) === 'activated') {
      auditTo(logger)('read models rebuilt', { actor: operator() })
      return
    }
    throw new Error('Interrupted. Another rebuild goes on from here; without one, what was built is removed in time.')
  })
  return { json: { outcome: 'activated' }, text: rebuilt }
}

interface VerifyOptions extends Options {
  readonly repair?: boolean
}

async function runVerify(
  definition: Definition,
  { json = false, repair = false }: VerifyOptions,
): Promise<CommandResult> {
  const results = await withEachShard(definition, json, async (shard, logger, progress) => {
    using folder = mkdtempDisposableSync(join(tmpdir(), `${definition.service.name}-verify-`))
    const scratch = openScratch(definition, join(folder.path, 'read-models.db'))
    return await verify({ ...shard, definition, logger, scratch, progress }).finally(() => scratch.close())
  })
  const differences = results.flatMap((result) => result.differences)
  const compared = results.reduce((sum, result) => sum + result.compared, 0)
  const generation = results.map((result) => result.generation).join(' ')
  if (!json) await print(describeVerification({ generation, differences, compared })) // before a rebuild, which may fail
  const repaired = repair && differences.length > 0
  if (repaired) await runRebuild(definition, { json })
  else if (differences.length > 0) process.exitCode = exitCodes.notAsItShouldBe
  return { json: { generation, differences, compared, repaired }, text: repaired ? rebuilt : '' }
}

function describeVerification({ generation, differences, compared }: Verification): string {
  const more = differences.length - shownDifferences
  const outcome = differences.length === 0 ? 'all as the log says' : `${differences.length} not as the log says`
  return [
    ...differences.slice(0, shownDifferences).map(describeDifference),
    ...(more > 0 ? [`… and ${more} more: --json has them all.`] : []),
    `Generation ${generation}: ${compared} compared, ${outcome}.`,
  ].join('\n')
}

function describeDifference({ where, id, expected = 'nothing', found = 'nothing' }: Difference): string {
  return `${where} ${inOneLine(id)}\n  expected  ${inOneLine(expected)}\n  found     ${inOneLine(found)}`
}

/** From the recorded sizes, which every read proves. */
async function countAll(definition: Definition): Promise<CommandResult> {
  const contents = await withStorage(definition, ({ stores }) =>
    inActive(stores, ({ inspection }, name) => inspection.contents(name)),
  )
  const count = (set: string) => contents.reduce((sum, { sizes }) => sum + (sizes.get(set)?.recorded ?? 0), 0)
  const stats = definition.resources.map(({ collection, filters = {} }) => {
    const counts = Object.entries(filters).flatMap(([filter, values]) =>
      valuesOf(values).map((value) => [value, count(setName(collection, indexOf(filter, value)))] as const),
    )
    return [collection, { total: count(collection), ...Object.fromEntries(counts) }] as const
  })
  const rows = stats.flatMap(([collection, counts]) =>
    Object.entries(counts).map(([value, n]) => [collection, value, String(n)]),
  )
  return { json: Object.fromEntries(stats), text: table(['', 'STATUS', 'COUNT'], rows) }
}
