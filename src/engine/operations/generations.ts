import type { Definition } from '../definition/definition.ts'
import type { EventLog } from '../log/event-log.ts'
import { type Stores, shardNamed, shardOf } from '../read-models/shards.ts'
import type { Contents, ReadModelStore } from '../read-models/store.ts'

export interface OpenedVersions {
  readonly log: Pick<EventLog, 'endOffsets' | 'logId'>
  readonly stores: Stores
  /** Those of this release. */
  readonly versions: readonly string[]
  /** The caller closes what it opens. */
  openVersion(version: string): Promise<ReadModelStore>
}

/** Every version that is stored, whichever release wrote it: those of this release first. Times are as in RFC 3339. */
export async function describeGenerations(
  definition: Definition,
  { stores, log, versions: own, openVersion }: OpenedVersions,
) {
  const stored = await stores[0].generations.versions()
  const names = new Set([...own, ...stored.map(({ version }) => version)])
  const generations = await Promise.all(
    [...names].map(async (version) => {
      const store = await openVersion(version)
      return await generationsIn(definition, store, version, log).finally(() => store.close())
    }),
  )
  const versions = stored.map(({ version, renewed }) => ({
    version,
    renewed: timeOf(renewed),
    isOwn: own.includes(version),
  }))
  return { versions, generations: generations.flat() }
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
  const generations = []
  for (const { name, state, since, logId } of await store.generations.all()) {
    const contents = await store.inspection.contents(name)
    if (contents === undefined) continue // removed meanwhile
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

/** Keyed by collection; undefined where another release wrote them in a way that this one does not know. */
function documentsIn({ resources }: Definition, { sizes }: Contents): Readonly<Record<string, number>> | undefined {
  if (sizes.size === 0) return undefined
  return Object.fromEntries(resources.map(({ collection }) => [collection, sizes.get(collection)?.recorded ?? 0]))
}

function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}
