import { type Shard, shardsOf } from '../read-models/shards.ts'
import type { StoredGeneration } from '../read-models/upkeep.ts'
import type { Storage } from '../storage.ts'

export interface GenerationFacts {
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

export async function describeGenerations({
  stores,
  log,
  versions: own,
}: Storage): Promise<{ versions: VersionFacts[]; generations: GenerationFacts[] }> {
  const described = await Promise.all(shardsOf(stores, log).map(generationsIn))
  const versions = await stores[0].versions()
  return {
    generations: described.flat(),
    versions: versions.map(({ version, renewed }) => ({
      version,
      renewed: new Date(renewed).toISOString(),
      isOwn: own.includes(version),
    })),
  }
}

async function generationsIn({ store, log }: Shard): Promise<GenerationFacts[]> {
  const ends = await log.ends()
  const end = ends.reduce((sum, each) => sum + each, 0)
  const generations: GenerationFacts[] = []
  for (const { name, state, since, epoch } of await store.generations()) {
    const contents = await store.contents(name)
    if (contents === undefined) continue // removed meanwhile
    const position = [...contents.moment.checkpoints.values()].reduce((sum, { next }) => sum + next, 0)
    generations.push({
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
