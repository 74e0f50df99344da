import type { ReadModelsListener } from '../../../src/read-models/read-models.ts'
import type { StoredGeneration } from '../../../src/read-models/upkeep.ts'
import { GenerationData } from '../memory-data.ts'
import { type Fault, type Faults, turn } from './fault.ts'

/** A store whose list of generations is made into another. */
function listing(alter: (all: StoredGeneration[]) => StoredGeneration[]): Fault {
  return (store) => ({ generations: async () => alter([...(await store.generations())]) })
}

export const buildingFaults: Faults = {
  'lists the active generation last': listing((all) => all.reverse()),
  'lists no replaced ones': listing((all) => all.filter(({ state }) => state !== 'replaced')),
  'lists what is built as replaced': listing((all) =>
    all.map((each) => (each.state === 'building' ? { ...each, state: 'replaced' } : each)),
  ),
  'lists times in seconds': listing((all) => all.map((each) => ({ ...each, since: Math.floor(each.since / 1000) }))),
  'lists the time of now': listing((all) => all.map((each) => ({ ...each, since: Date.now() }))),
  'lists when a generation came into being': (store) => {
    const first = new Map<string, number>()
    return {
      generations: async () =>
        (await store.generations()).map((each) => {
          first.set(each.name, first.get(each.name) ?? each.since)
          return { ...each, since: first.get(each.name) ?? 0 }
        }),
    }
  },
  'lists when a generation was last applied to': (store, data, version) => ({
    apply: async (name, batch) => {
      const generation = data.version(version).generations.get(name)
      if (generation !== undefined) generation.since = Date.now()
      return store.apply(name, batch)
    },
  }),
  'lists the generations of all versions': (_, data) => ({
    generations: async () => [...data.versions.keys()].flatMap((version) => data.version(version).stored()),
  }),
  'always builds anew': (store, data, version) => ({
    build: async (generation) => {
      const building = data.version(version).inState('building')
      if (building !== undefined) await store.remove(building.name)
      return store.build(generation)
    },
  }),
  'says that it builds what it was asked for': (store) => ({
    build: async (generation) => {
      await store.build(generation)
      return generation
    },
  }),
  'goes on with one of another epoch': (store, data, version) => ({
    build: async ({ name, epoch }) =>
      store.build({ name, epoch: data.version(version).inState('building')?.epoch ?? epoch }),
  }),
  'keeps the one of another epoch': (_, data, version) => ({
    build: async (generation) => {
      const building = data.version(version).inState('building')
      if (building?.epoch === generation.epoch) return building
      data.version(version).generations.set(generation.name, new GenerationData(generation, 'building'))
      return generation
    },
  }),
  'goes on with the active one': (store) => ({
    build: async (generation) => {
      const active = await store.active()
      return active?.epoch === generation.epoch ? active : store.build(generation)
    },
  }),
  'empties what it goes on with': (store, data, version) => ({
    build: async (generation) => {
      const built = await store.build(generation)
      data.version(version).generations.set(built.name, new GenerationData(built, 'building'))
      return built
    },
  }),
  'does not say that a build was asked for again': (store, data, version) => ({
    build: async (generation) => {
      const since = data.version(version).inState('building')?.since
      const built = await store.build(generation)
      const building = data.version(version).inState('building')
      if (building !== undefined && since !== undefined) building.since = since
      return built
    },
  }),
  'builds two when asked twice at once': (store, data, version) => ({
    build: async (generation) => {
      const building = data.version(version).inState('building')
      await turn()
      if (building !== undefined) return store.build(generation)
      data.version(version).generations.set(generation.name, new GenerationData(generation, 'building'))
      return generation
    },
  }),
  'makes active what it builds where none is': (store) => ({
    build: async (generation) => {
      if ((await store.active()) !== undefined) return store.build(generation)
      await store.start(generation, undefined)
      return generation
    },
  }),
  'ends the active one when it builds': (store, data, version) => ({
    build: async (generation) => {
      data.version(version).inState('active')?.become('replaced')
      return store.build(generation)
    },
  }),
  'reads what is being built': (store, data, version) => ({
    active: async () => {
      const building = data.version(version).inState('building')
      return building === undefined ? store.active() : { ...building, continues: undefined }
    },
  }),
  'has nothing applied to what is being built': (store, data, version) => ({
    apply: async (name, batch) =>
      data.version(version).inState('building')?.name === name
        ? { outcome: 'generation_gone' }
        : store.apply(name, batch),
  }),
  'tells of progress in what is being built': (store, data, version) => {
    const told = new Set<ReadModelsListener>()
    return {
      listen: (listener) => {
        told.add(listener)
        return store.listen(listener)
      },
      apply: async (name, batch) => {
        const { partition, checkpoint } = batch
        const at = { partition, next: checkpoint.next, parked: [] }
        const isBuilding = data.version(version).inState('building')?.name === name
        if (isBuilding) for (const listener of told) listener.progress(name, at)
        return store.apply(name, batch)
      },
    }
  },
  'tells of what is to be built': (store) => {
    const told = new Set<ReadModelsListener>()
    return {
      listen: (listener) => {
        told.add(listener)
        return store.listen(listener)
      },
      build: async (generation) => {
        for (const listener of told) listener.progress(generation.name)
        return store.build(generation)
      },
    }
  },
  'removes what other versions build': (store, data, version) => ({
    build: async (generation) => {
      for (const [name, other] of data.versions) {
        const building = other.inState('building')
        if (name !== version && building !== undefined) other.generations.delete(building.name)
      }
      return store.build(generation)
    },
  }),
}
