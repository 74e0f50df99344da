import type { Definition } from '../definition/definition.ts'
import type { EventLog } from '../log/event-log.ts'
import { DamagedError } from '../read-models/damaged.ts'
import type { StoredGeneration } from '../read-models/ports/generations.ts'
import type { Contents } from '../read-models/ports/inspection.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import { type Stores, shardNamed, shardOf } from '../read-models/shards.ts'

export interface OpenedVersions {
  readonly log: Pick<EventLog, 'endOffsets' | 'logId'>
  readonly stores: Stores
  /** Those of this release. */
  readonly versions: readonly string[]
  /** The caller closes what it opens. */
  openVersion(version: string): Promise<ReadModelStore>
}

export interface DescribedGeneration {
  readonly version: string
  readonly name: string
  readonly state: StoredGeneration['state']
  readonly since: string
  readonly position?: number
  readonly lag?: number | undefined
  readonly documents?: Readonly<Record<string, number>> | undefined
  readonly parked?: number
  /** What is damaged of it, so that there are no figures. */
  readonly damage?: string
}

/** Every version that is stored, whichever release wrote it: those of this release first. Times are as in RFC 3339. */
export async function describeGenerations(
  definition: Definition,
  { stores, log, versions: own, openVersion }: OpenedVersions,
) {
  const stored = await stores[0].generations.versions()
  const names = new Set([...own, ...stored.map(({ version }) => version)])
  const generations: DescribedGeneration[] = []
  // One after the other: whoever writes to the store decides how many others there are, and each is a connection.
  for (const version of names) {
    const opened = stores[own.indexOf(version)]
    const store = opened ?? (await openVersion(version))
    try {
      generations.push(...(await generationsIn(definition, store, version, log)))
    } finally {
      if (opened === undefined) await store.close()
    }
  }
  const versions = stored.map(({ version, renewed }) => ({
    version,
    renewed: timeOf(renewed),
    isOwn: own.includes(version),
  }))
  return { versions, generations }
}

async function generationsIn(
  definition: Definition,
  store: ReadModelStore,
  version: string,
  log: OpenedVersions['log'],
) {
  const { shard, shards } = shardNamed(version)
  const ends = (await log.endOffsets()).filter((_, partition) => shardOf(partition, shards) === shard)
  const end = ends.reduce((sum, each) => sum + each, 0)
  const generations: DescribedGeneration[] = []
  for (const { name, state, since, logId } of await store.generations.all()) {
    const contents = await recordedIn(store, name)
    if (contents === undefined) continue // removed meanwhile
    if (contents instanceof DamagedError) {
      generations.push({ version, name, state, since: timeOf(since), damage: contents.damage })
      continue
    }
    const position = [...contents.snapshot.checkpoints.values()].reduce((sum, { next }) => sum + next, 0)
    // Nobody can tell how many records one of another log has not handled yet.
    const lag = logId === log.logId ? Math.max(0, end - position) : undefined
    const parked = [...contents.snapshot.checkpoints.values()].reduce((sum, { counts }) => sum + counts.parked, 0)
    generations.push({
      version,
      name,
      state,
      since: timeOf(since),
      position,
      lag,
      documents: documentsIn(definition, contents),
      parked,
    })
  }
  return generations
}

/** Undefined if the generation is removed. */
async function recordedIn(
  { inspection }: ReadModelStore,
  generation: string,
): Promise<Contents<number> | DamagedError | undefined> {
  try {
    return await inspection.recorded(generation)
  } catch (error) {
    if (error instanceof DamagedError) return error
    throw error
  }
}

/** Keyed by collection; undefined where another release wrote them in a way that this one does not know. */
function documentsIn(
  { resources }: Definition,
  { sizes }: Contents<number>,
): Readonly<Record<string, number>> | undefined {
  if (sizes.size === 0) return undefined
  return Object.fromEntries(resources.map(({ collection }) => [collection, sizes.get(collection) ?? 0]))
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
