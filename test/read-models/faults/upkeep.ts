import type { ReadModels, ReadModelsListener } from '../../../src/read-models/read-models.ts'
import type { StoredVersion } from '../../../src/read-models/upkeep.ts'
import type { GenerationData } from '../memory-data.ts'
import type { Fault, Faults } from './fault.ts'

/** A store that takes nothing away of a generation that it removes but what `keep` leaves out. */
function keeping(keep: (kept: GenerationData) => Partial<ReadModels>): Fault {
  return (store, data, version) => {
    const removed = new Map<string, GenerationData>()
    const alterations: Partial<ReadModels> = {}
    return Object.assign(alterations, {
      remove: async (name: string) => {
        const generation = data.version(version).generations.get(name)
        const result = await store.remove(name)
        if (generation !== undefined && result) removed.set(name, generation)
        for (const each of removed.values()) Object.assign(alterations, keep(each))
        return result
      },
    })
  }
}

/** A store whose list of versions is made into another. */
function listing(alter: (all: readonly StoredVersion[], version: string) => readonly StoredVersion[]): Fault {
  return (store, _, version) => ({ versions: async () => alter(await store.versions(), version) })
}

/** A store that tells otherwise what it has pruned. */
function tellingPruned(alter: (removed: readonly string[]) => readonly string[]): Fault {
  return (store) => ({ prune: async (graceMs) => alter(await store.prune(graceMs)) })
}

/** A store that prunes after other times than it should. */
function pruningAfter(alter: (graceMs: number) => number): Fault {
  return (store) => ({ prune: (graceMs) => store.prune(alter(graceMs)) })
}

export const upkeepFaults: Faults = {
  'removes the active one': (_, data, version) => ({
    remove: async (name) => data.version(version).generations.delete(name),
  }),
  'says that it removed what is not there': (store) => ({
    remove: async (name) => {
      await store.remove(name)
      return (await store.active())?.name !== name
    },
  }),
  'says of nothing that it removed it': (store) => ({
    remove: async (name) => {
      await store.remove(name)
      return false
    },
  }),
  'says that it removed the active one': (store) => ({
    remove: async (name) => (await store.active())?.name === name || store.remove(name),
  }),
  'removes what is being built only': (store, data, version) => ({
    remove: async (name) => data.version(version).inState('building')?.name === name && store.remove(name),
  }),
  'removes what was replaced only': (store, data, version) => ({
    remove: async (name) => data.version(version).inState('building')?.name !== name && store.remove(name),
  }),
  'removes all that is not active': (store) => ({
    remove: async (name) => {
      const result = await store.remove(name)
      if (result) for (const each of await store.generations()) await store.remove(each.name)
      return result
    },
  }),
  'keeps the documents of what it removes': keeping((kept) => ({
    contents: async () => ({ ...kept.contents(), moment: { active: '', checkpoints: new Map() } }),
  })),
  'keeps the decisions of what it removes': keeping((kept) => ({
    decision: async (_, key) => kept.decisions.get(key),
  })),
  'keeps what is parked in what it removes': keeping((kept) => ({
    parkedUnder: async () => [...kept.parked.values()],
  })),
  'keeps the checkpoints of what it removes': keeping((kept) => ({ checkpoints: async () => kept.checkpoints })),
  'renews once': (store) => {
    let isRenewed = false
    return {
      renew: async () => {
        if (isRenewed) return
        isRenewed = true
        await store.renew()
      },
    }
  },
  'renews all versions': (store, data) => ({
    renew: async () => {
      await store.renew()
      for (const each of data.versions.values()) if (each.renewed !== undefined) each.renewed = Date.now()
    },
  }),
  'lists its own version only': listing((all, own) => all.filter(({ version }) => version === own)),
  'lists other versions only': listing((all, own) => all.filter(({ version }) => version !== own)),
  'lists the time of now': listing((all) => all.map((each) => ({ ...each, renewed: Date.now() }))),
  'tells seconds': listing((all) => all.map((each) => ({ ...each, renewed: each.renewed / 1000 }))),
  'counts from its own beginning': listing((all) =>
    all.map((each) => ({ ...each, renewed: each.renewed - performance.timeOrigin })),
  ),
  'prunes nothing': pruningAfter(() => Number.MAX_SAFE_INTEGER),
  'prunes whatever the grace': pruningAfter(() => 0),
  'takes the grace for seconds': pruningAfter((graceMs) => graceMs * 1000),
  'prunes no grace at all': (store) => ({ prune: async (graceMs) => (graceMs === 0 ? [] : store.prune(graceMs)) }),
  'prunes by when a version was first renewed': (store, data) => {
    const first = new Map<string, number>()
    return {
      prune: async (graceMs) => {
        for (const { version, renewed } of data.renewed()) {
          first.set(version, first.get(version) ?? renewed)
          data.version(version).renewed = first.get(version)
        }
        return store.prune(graceMs)
      },
    }
  },
  'prunes by when a build was first asked for': (store, data, version) => {
    const first = new Map<string, number>()
    return {
      prune: async (graceMs) => {
        for (const generation of data.version(version).generations.values()) {
          first.set(generation.name, first.get(generation.name) ?? generation.since)
          generation.since = first.get(generation.name) ?? 0
        }
        return store.prune(graceMs)
      },
    }
  },
  'prunes versions only': (store, data, version) => ({
    prune: async (graceMs) => {
      const kept = [...data.version(version).generations]
      const removed = await store.prune(graceMs)
      for (const [name, generation] of kept) data.version(version).generations.set(name, generation)
      return removed.filter((name) => !name.includes('/'))
    },
  }),
  'prunes generations only': (store, data) => ({
    prune: async (graceMs) => {
      const kept = [...data.versions]
      const removed = await store.prune(graceMs)
      for (const [name, each] of kept) data.versions.set(name, each)
      return removed.filter((name) => name.includes('/'))
    },
  }),
  'prunes no build': (store, data, version) => ({
    prune: async (graceMs) => {
      const building = data.version(version).inState('building')
      const removed = await store.prune(graceMs)
      if (building !== undefined) data.version(version).generations.set(building.name, building)
      return removed.filter((name) => !name.endsWith(building?.name ?? '/'))
    },
  }),
  'prunes its own version': (store, data, version) => ({
    prune: async (graceMs) => {
      const removed = await store.prune(graceMs)
      if (graceMs === 0) data.versions.delete(version)
      return removed
    },
  }),
  'forgets when its own version was renewed as it prunes': (store, data, version) => ({
    prune: async (graceMs) => {
      const removed = await store.prune(graceMs)
      data.version(version).renewed = undefined
      return removed
    },
  }),
  'prunes the active one': (store, data, version) => ({
    prune: async (graceMs) => {
      const removed = await store.prune(graceMs)
      if (graceMs === 0) data.version(version).generations.clear()
      return removed
    },
  }),
  'prunes the list of versions, and not what they hold': (store, data) => ({
    prune: async (graceMs) => {
      const kept = [...data.versions]
      const removed = await store.prune(graceMs)
      for (const [name, each] of kept) {
        if (removed.includes(name)) data.versions.set(name, Object.assign(each, { renewed: undefined }))
      }
      return removed
    },
  }),
  'prunes what versions hold, and not the list of them': (store, data) => ({
    prune: async (graceMs) => {
      const before = data.renewed()
      const removed = await store.prune(graceMs)
      for (const { version, renewed } of before) data.version(version).renewed = renewed
      return removed
    },
  }),
  'prunes the active ones of other versions only': (store, data) => ({
    prune: async (graceMs) => {
      const kept = [...data.versions].map(([name, each]) => [name, each.inState('building')] as const)
      const removed = await store.prune(graceMs)
      for (const [name, building] of kept) {
        if (building && removed.includes(name)) data.version(name).generations.set(building.name, building)
      }
      return removed
    },
  }),
  'never takes up again what was pruned': (store, data) => {
    const pruned = new Set<string>()
    return {
      prune: async (graceMs) => {
        const removed = await store.prune(graceMs)
        for (const name of removed) pruned.add(name)
        return removed
      },
      versions: async () => data.renewed().filter(({ version }) => !pruned.has(version)),
    }
  },
  'tells nothing of what it pruned': tellingPruned(() => []),
  'tells no generations that it pruned': tellingPruned((all) => all.filter((name) => !name.includes('/'))),
  'tells no versions that it pruned': tellingPruned((all) => all.filter((name) => name.includes('/'))),
  'tells generations without their version': tellingPruned((all) => all.map((name) => name.split('/').at(-1) ?? '')),
  'tells of what it prunes': (store) => {
    const told = new Set<ReadModelsListener>()
    return {
      listen: (listener) => {
        told.add(listener)
        return store.listen(listener)
      },
      prune: async (graceMs) => {
        const removed = await store.prune(graceMs)
        for (const name of removed) for (const listener of told) listener.progress(name)
        return removed
      },
    }
  },
}
