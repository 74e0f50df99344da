import type { Storage } from '../app/storage.ts'
import type { EventLog } from '../event-log/event-log.ts'
import type { ReadModels } from '../read-models/read-models.ts'
import { logOfShard, shardNamed } from '../read-models/shards.ts'
import type { StoredGeneration } from '../read-models/upkeep.ts'

export interface GenerationFacts {
  readonly version: string
  readonly name: string
  readonly state: StoredGeneration['state']
  /** RFC 3339 */
  readonly since: string
  /** Records handled, of all partitions. */
  readonly position: number
  /** Records of the log not handled yet; undefined for a generation that is made from another log. */
  readonly lag: number | undefined
  readonly documents: number
  readonly parked: number
}

export interface VersionFacts {
  readonly version: string
  /** RFC 3339 */
  readonly renewed: string
  /** Whether it is the one of this release. */
  readonly isOwn: boolean
}

/** Of every version that is stored, whichever release it is of: those of this one first. */
export async function describeGenerations({
  stores,
  log,
  versions: own,
  openVersion,
}: Pick<Storage, 'stores' | 'log' | 'versions' | 'openVersion'>): Promise<{
  versions: VersionFacts[]
  generations: GenerationFacts[]
}> {
  const versions = await stores[0].versions()
  const names = new Set([...own, ...versions.map(({ version }) => version)])
  const described = await Promise.all(
    [...names].map(async (version) => {
      const store = await openVersion(version)
      return await generationsIn(store, version, log).finally(() => store.close())
    }),
  )
  return {
    generations: described.flat(),
    versions: versions.map(({ version, renewed }) => ({
      version,
      renewed: new Date(renewed).toISOString(),
      isOwn: own.includes(version),
    })),
  }
}

async function generationsIn(store: ReadModels, version: string, log: EventLog): Promise<GenerationFacts[]> {
  const { shard, shards } = shardNamed(version)
  const ends = await logOfShard(log, shard, shards).ends()
  const end = ends.reduce((sum, each) => sum + each, 0)
  const generations: GenerationFacts[] = []
  for (const { name, state, since, epoch } of await store.generations()) {
    const contents = await store.contents(name)
    if (contents === undefined) continue // removed meanwhile
    const position = [...contents.moment.checkpoints.values()].reduce((sum, { next }) => sum + next, 0)
    generations.push({
      version,
      name,
      state,
      since: new Date(since).toISOString(),
      position,
      lag: epoch === log.epoch ? Math.max(0, end - position) : undefined,
      documents: contents.documents.held,
      parked: contents.parked,
    })
  }
  return generations
}
