import { petStreams } from '../app/petstore.ts'
import type { Storage } from '../app/storage.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { StoredGeneration } from '../read-models/generations.ts'
import type { Contents } from '../read-models/inspection.ts'
import { logOfShard, shardNamed } from '../read-models/shards.ts'
import type { ReadModelStore } from '../read-models/store.ts'

export interface GenerationFacts {
  readonly version: string
  readonly name: string
  readonly state: StoredGeneration['state']
  /** RFC 3339 */
  readonly since: string
  /** Records handled, in all partitions. */
  readonly position: number
  /** Records of the log not handled yet; undefined for a generation that is made from another log. */
  readonly lag: number | undefined
  /** Documents by collection; undefined where another release wrote them in a way that this one does not know. */
  readonly documents: Readonly<Record<string, number>> | undefined
  readonly parked: number
}

export interface VersionFacts {
  readonly version: string
  /** RFC 3339 */
  readonly renewed: string
  /** Whether it is the one of this release. */
  readonly isOwn: boolean
}

/** Every version that is stored, whichever release wrote it: those of this release first. */
export async function describeGenerations({
  stores,
  log,
  versions: own,
  openVersion,
}: Pick<Storage, 'stores' | 'log' | 'versions' | 'openVersion'>): Promise<{
  versions: VersionFacts[]
  generations: GenerationFacts[]
}> {
  const versions = await stores[0].generations.versions()
  const names = new Set([...own, ...versions.map(({ version }) => version)])
  const described = await Promise.all(
    [...names].map(async (version) => {
      const store = await openVersion(version)
      return await generationsIn(store, version, log).finally(() => store.close())
    }),
  )
  return {
    versions: versions.map(({ version, renewed }) => ({
      version,
      renewed: new Date(renewed).toISOString(),
      isOwn: own.includes(version),
    })),
    generations: described.flat(),
  }
}

async function generationsIn(store: ReadModelStore, version: string, log: EventLog): Promise<GenerationFacts[]> {
  const { shard, shards } = shardNamed(version)
  const ends = await logOfShard(log, shard, shards).endOffsets()
  const end = ends.reduce((sum, each) => sum + each, 0)
  const generations: GenerationFacts[] = []
  for (const { name, state, since, logId } of await store.generations.all()) {
    const contents = await store.inspection.contents(name)
    if (contents === undefined) continue // removed meanwhile
    const position = [...contents.snapshot.checkpoints.values()].reduce((sum, { next }) => sum + next, 0)
    generations.push({
      version,
      name,
      state,
      since: new Date(since).toISOString(),
      position,
      lag: logId === log.logId ? Math.max(0, end - position) : undefined,
      documents: documentsIn(contents),
      parked: contents.sizes.get('parked')?.recorded ?? 0,
    })
  }
  return generations
}

function documentsIn({ sizes, snapshot }: Contents): Record<string, number> | undefined {
  if (sizes.size === 0 && snapshot.checkpoints.size > 0) return undefined
  const collections = petStreams.projections.map(({ name }) => name)
  return Object.fromEntries(collections.map((name) => [name, sizes.get(name)?.recorded ?? 0]))
}
