import type { ActiveGeneration, ReadModelsListener } from '../../../src/read-models/read-models.ts'
import type { GenerationData, VersionData } from '../memory-data.ts'
import { type Fault, type Faults, turn } from './fault.ts'

/** A store that looks at partitions in its own way before it activates, and at nothing else but completeness. */
function comparing(isBehind: (active: number, building: number | undefined, partition: number) => boolean): Fault {
  return (store, data, version) => ({
    activate: async (name) => {
      const { active, building } = candidates(data.version(version), name)
      if (building === undefined) return 'not_building'
      for (const [partition, { next }] of active?.checkpoints ?? []) {
        if (isBehind(next, building.checkpoints.get(partition)?.next, partition)) return 'behind'
      }
      return forced(active, () => store.activate(name))
    },
  })
}

function candidates(version: VersionData, name: string) {
  const building = version.inState('building')
  return { active: version.inState('active'), building: building?.name === name ? building : undefined }
}

/** What `work` does while nothing is known of how far the active one is. */
async function forced<T>(active: GenerationData | undefined, work: () => Promise<T>): Promise<T> {
  const checkpoints = [...(active?.checkpoints ?? [])]
  active?.checkpoints.clear()
  const result = work() // it changes what it changes before it is waited for
  for (const [partition, checkpoint] of checkpoints) active?.checkpoints.set(partition, checkpoint)
  return result
}

/** A store that takes the one being built for complete where `isSo`. */
function completing(isSo: (generation: GenerationData) => boolean): Fault {
  return (store, data, version) => ({
    activate: async (name) => {
      const building = data.version(version).generations.get(name)
      if (building === undefined || building.isComplete() || !isSo(building)) return store.activate(name)
      const collections = [building.documents, ...building.indexes.values()]
      for (const collection of collections) collection.added = collection.inserts.size
      return store.activate(name)
    },
  })
}

function continuing(alter: (active: ActiveGeneration) => string | undefined): Fault {
  return (store) => ({
    active: async () => {
      const active = await store.active()
      return active && { ...active, continues: alter(active) }
    },
  })
}

/** A store that tells its listeners more than it should when it activates. */
function telling(tell: (listener: ReadModelsListener, name: string, result: string) => void): Fault {
  return (store) => {
    const told = new Set<ReadModelsListener>()
    return {
      listen: (listener) => {
        told.add(listener)
        return store.listen(listener)
      },
      activate: async (name) => {
        const result = await store.activate(name)
        for (const listener of told) tell(listener, name, result)
        return result
      },
    }
  }
}

export const activatingFaults: Faults = {
  'activates what is behind': comparing(() => false),
  'compares the first partition only': comparing(
    (active, building = 0, partition) => partition === 0 && active > building,
  ),
  'compares partitions that both have': comparing((active, building = active) => active > building),
  'compares positions as text': comparing((active, building = 0) => String(active) > String(building)),
  'refuses what is ahead': comparing((active, building) => active !== building),
  'refuses what is not ahead': comparing((active, building = 0) => active >= building),
  'compares the sum of positions': (store, data, version) => ({
    activate: async (name) => {
      const { active, building } = candidates(data.version(version), name)
      const sum = (of: GenerationData | undefined) =>
        [...(of?.checkpoints.values() ?? [])].reduce((sum, { next }) => sum + next, 0)
      if (building === undefined) return 'not_building'
      return sum(active) > sum(building) ? 'behind' : forced(active, () => store.activate(name))
    },
  }),
  'refuses what holds fewer documents': (store, data, version) => ({
    activate: async (name) => {
      const { active, building } = candidates(data.version(version), name)
      if (active === undefined || building === undefined) return store.activate(name)
      return active.documents.added > building.documents.added ? 'behind' : store.activate(name)
    },
  }),
  'activates what is incomplete': completing(() => true),
  'does not count documents': completing(({ documents }) => documents.inserts.size < documents.added),
  'does not count the entries of indexes': completing(({ documents }) => documents.inserts.size === documents.added),
  'does not count indexes that are empty': completing(({ indexes }) =>
    [...indexes.values()].every(({ inserts, added }) => inserts.size === 0 || inserts.size === added),
  ),
  'activates what was replaced': (store, data, version) => ({
    activate: async (name) => {
      const generation = data.version(version).generations.get(name)
      if (generation?.state === 'replaced') generation.state = 'building'
      return store.activate(name)
    },
  }),
  'says of the active one that it was activated': (store) => ({
    activate: async (name) => ((await store.active())?.name === name ? 'activated' : store.activate(name)),
  }),
  'says behind of what is not there': (store, data, version) => ({
    activate: async (name) => (data.version(version).generations.has(name) ? store.activate(name) : 'behind'),
  }),
  'activates nothing where none is active': (store) => ({
    activate: async (name) => ((await store.active()) === undefined ? 'not_building' : store.activate(name)),
  }),
  'removes a refused one': (store) => ({
    activate: async (name) => {
      const result = await store.activate(name)
      if (result !== 'activated') await store.remove(name)
      return result
    },
  }),
  'removes the one that was taken over from': (store) => ({
    activate: async (name) => {
      const before = await store.active()
      const result = await store.activate(name)
      if (result === 'activated') await store.remove(before?.name ?? '')
      return result
    },
  }),
  'applies to the one that was taken over from': (store, data, version) => ({
    apply: async (name, batch) => {
      const generation = data.version(version).generations.get(name)
      return generation?.state === 'replaced' ? generation.apply(batch) : store.apply(name, batch)
    },
  }),
  'empties what it activates': (store, data, version) => ({
    activate: async (name) => {
      const result = await store.activate(name)
      if (result === 'activated') data.version(version).generations.get(name)?.documents.inserts.clear()
      return result
    },
  }),
  'lists it since it was built': (store, data, version) => ({
    activate: async (name) => {
      const generation = data.version(version).generations.get(name)
      const since = generation?.since ?? 0
      const result = await store.activate(name)
      if (generation !== undefined) generation.since = since
      return result
    },
  }),
  'forgets what it continues': continuing(() => undefined),
  'continues what a start took the place of': (store, data, version) => ({
    start: async (generation, instead) => {
      await store.start(generation, instead)
      const active = data.version(version).inState('active')
      if (active?.name === generation.name) active.continues = instead
    },
  }),
  'continues itself': continuing(({ name }) => name),
  'continues the first one for ever': (store) => {
    let first: string | undefined
    return {
      active: async () => {
        const active = await store.active()
        first ??= active?.continues
        return active && { ...active, continues: first }
      },
    }
  },
  'forgets what it continues when that is removed': (store, data, version) => ({
    remove: async (name) => {
      const active = data.version(version).inState('active')
      if (active?.continues === name) active.continues = undefined
      return store.remove(name)
    },
  }),
  'tells nobody': (store) => ({
    listen: (listener) => store.listen({ ...listener, progress: (name, at) => at && listener.progress(name, at) }),
  }),
  'tells of it twice': telling((listener, name, result) => {
    if (result === 'activated') listener.progress(name)
  }),
  'tells of what was refused': telling((listener, name, result) => {
    if (result !== 'activated') listener.progress(name)
  }),
  'tells of all its positions': telling((listener, name, result) => {
    if (result === 'activated') listener.progress(name, { partition: 0, next: 1, parked: [] })
  }),
  'looks at positions before it activates': (store, data, version) => ({
    activate: async (name) => {
      const { active, building } = candidates(data.version(version), name)
      if (building === undefined || building.state !== 'building') return 'not_building'
      for (const [partition, { next }] of active?.checkpoints ?? []) {
        if (next > (building.checkpoints.get(partition)?.next ?? 0)) return 'behind'
      }
      await turn()
      return forced(active, () => store.activate(name))
    },
  }),
  'activates for everybody who asks at once': (store, data, version) => ({
    activate: async (name) => {
      const { building } = candidates(data.version(version), name)
      await turn()
      const result = await store.activate(name)
      return building !== undefined && result === 'not_building' ? 'activated' : result
    },
  }),
}
