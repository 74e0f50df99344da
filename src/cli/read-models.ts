import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import { petStreams } from '../app/petstore.ts'
import { openScratch, type Storage } from '../app/storage.ts'
import { orderStatuses } from '../domain/order.ts'
import { petStatuses } from '../domain/pet.ts'
import type { Difference } from '../projector/compare.ts'
import { rebuild } from '../projector/rebuild.ts'
import { type Verification, verify } from '../projector/verify.ts'
import { setName } from '../read-models/document.ts'
import { shardsOf } from '../read-models/shards.ts'
import { describeGenerations } from './generations.ts'
import { exitCodes, type Progress, print, printJson, printTable, showProgress } from './output.ts'
import { inActive, withStorage } from './storage.ts'

interface JsonOption {
  readonly json?: boolean
}

const shownDifferences = 50

export function addReadModelCommands(program: Command): void {
  program
    .command('generations')
    .description('List the generations of every version of the read models: state, position, lag, size')
    .option('--json', 'print JSON')
    .action(listGenerations)

  program
    .command('rebuild')
    .description('Build the read models anew from the log, beside the live ones, and have them take over')
    .option('--json', 'print JSON')
    .action(runRebuild)

  program
    .command('verify')
    .description('Compare everything in the live read models with the log; exit code 1 where they differ')
    .option('--repair', 'rebuild where they differ')
    .option('--json', 'print JSON')
    .action(runVerify)

  program
    .command('stats')
    .description('Show how many pets and orders there are, by status')
    .option('--json', 'print JSON')
    .action(showStats)
}

async function listGenerations({ json }: JsonOption): Promise<void> {
  const { versions, generations } = await withStorage(describeGenerations)
  if (json) return printJson({ versions, generations })
  printTable(
    ['VERSION', 'GENERATION', 'STATE', 'SINCE', 'POSITION', 'LAG', 'PETS', 'ORDERS', 'PARKED'],
    generations.map(({ version, name, state, since, position, lag, documents, parked }) => [
      version,
      name,
      state,
      since,
      ...[position, lag, documents?.pets, documents?.orders, parked].map((figure) => String(figure ?? '?')),
    ]),
  )
  print('')
  printTable(
    ['VERSION', 'LAST USED'],
    versions.map(({ version, renewed, isOwn }) => [`${version}${isOwn ? ' (of this release)' : ''}`, renewed]),
  )
}

async function runRebuild({ json = false }: JsonOption): Promise<void> {
  await rebuildShards(json)
  if (json) printJson({ outcome: 'activated' })
  else print('Rebuilt: the new generation has taken over.')
}

async function rebuildShards(json: boolean): Promise<void> {
  const interrupted = new AbortController()
  process.once('SIGINT', () => interrupted.abort()).once('SIGTERM', () => interrupted.abort())
  const progress = showProgress(json)
  const outcome = await withStorage(async ({ log, stores, group }, { logger }) => {
    for (const [shard, parts] of shardsOf(stores, log).entries()) {
      const update = (done: number, total: number) => progress.update(stepOf('rebuild', shard, stores), done, total)
      const options = { ...parts, definition: petStreams, group, logger, progress: update, signal: interrupted.signal }
      if ((await rebuild(options)) === 'interrupted') return 'interrupted'
    }
    return 'activated'
  }).finally(() => progress.end())
  if (outcome === 'interrupted') {
    throw new Error('Interrupted. Another rebuild goes on from here; without one, what was built is removed in time.')
  }
}

async function runVerify({ json = false, repair = false }: JsonOption & { repair?: boolean }): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-verify-'))
  const progress = showProgress(json)
  try {
    const results = await withStorage((storage, { logger }) => verifyShards(storage, folder, progress.update, logger))
    progress.end()
    const differences = results.flatMap((result) => result.differences)
    const compared = results.reduce((sum, result) => sum + result.compared, 0)
    const generation = results.map((result) => result.generation).join(' ')
    if (!json) printVerification({ generation, differences, compared })
    const repaired = repair && differences.length > 0
    if (repaired) await rebuildShards(json)
    if (json) printJson({ generation, differences, compared, repaired })
    else if (repaired) print('Rebuilt: the new generation has taken over.')
    if (differences.length > 0 && !repaired) process.exitCode = exitCodes.notAsItShouldBe
  } finally {
    progress.end()
    rmSync(folder, { recursive: true })
  }
}

/** One after the other: each replays its part of the log, so all of it is replayed once. */
async function verifyShards(
  { log, stores, group }: Storage,
  folder: string,
  progress: Progress['update'],
  logger: Logger,
): Promise<Verification[]> {
  const results: Verification[] = []
  for (const [shard, parts] of shardsOf(stores, log).entries()) {
    const scratch = openScratch(join(folder, `read-models-${shard}.db`))
    const result = await verify({
      ...parts,
      scratch,
      definition: petStreams,
      group: `${group}.verify.${process.pid}.${Date.now()}`,
      logger,
      progress: (step, done, total) => progress(stepOf(step, shard, stores), done, total),
    }).finally(() => scratch.close())
    results.push(result)
  }
  return results
}

function stepOf(step: string, shard: number, shards: readonly unknown[]): string {
  return shards.length === 1 ? step : `${step} shard ${shard + 1} of ${shards.length}`
}

function printVerification({ generation, differences, compared }: Verification): void {
  for (const difference of differences.slice(0, shownDifferences)) printDifference(difference)
  const more = differences.length - shownDifferences
  if (more > 0) print(`… and ${more} more: --json has them all.`)
  const outcome = differences.length === 0 ? 'all as the log says' : `${differences.length} not as the log says`
  print(`Generation ${generation}: ${compared} compared, ${outcome}.`)
}

function printDifference({ where, id, expected, found }: Difference): void {
  print(`${where} ${id}`)
  print(`  expected  ${expected ?? 'nothing'}`)
  print(`  found     ${found ?? 'nothing'}`)
}

/** From the recorded sizes, which every read proves. */
async function showStats({ json }: JsonOption): Promise<void> {
  const contents = await withStorage(({ stores }) =>
    inActive(stores, ({ inspection }, name) => inspection.contents(name)),
  )
  const count = (set: string) => contents.reduce((sum, { sizes }) => sum + (sizes.get(set)?.recorded ?? 0), 0)
  const stats = Object.entries({ pets: petStatuses, orders: orderStatuses }).map(([collection, statuses]) => {
    const byStatus = statuses.map((status) => [status, count(setName(collection, `status:${status}`))] as const)
    return [collection, { total: count(collection), ...Object.fromEntries(byStatus) }] as const
  })
  if (json) return printJson(Object.fromEntries(stats))
  printTable(
    ['', 'STATUS', 'COUNT'],
    stats.flatMap(([collection, counts]) =>
      Object.entries(counts).map(([status, n]) => [collection, status, String(n)]),
    ),
  )
}
