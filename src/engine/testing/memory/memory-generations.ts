import { timeOfDay } from '../../lib/clock.ts'
import { DamagedError } from '../../read-models/damaged.ts'
import type { ActiveGeneration, Generation, Generations, Look } from '../../read-models/ports/generations.ts'
import { GenerationData } from './memory-data.ts'
import type { MemoryStore } from './opened-store.ts'

const pauseEveryMs = 5000

export function generationsOf(store: MemoryStore): Generations {
  return {
    async look() {
      const [active, building] = [store.open().inState('active'), store.open().inState('building')]
      const { checkpoints, damage } = checkpointsOf(active)
      const built = checkpointsOf(building).checkpoints
      return {
        active: active && activeOf(active),
        checkpoints,
        isComplete: damage === undefined && (active === undefined || active.isComplete(...active.sizes().keys())),
        damage,
        building: building && built && { ...generationOf(building), checkpoints: built },
      }
    },

    async active() {
      const active = store.open().inState('active')
      return active && activeOf(active)
    },

    async checkpoints(name) {
      const generation = store.generation(name)
      return generation && new Map(generation.checkpoints)
    },

    listen: (listener) => store.listeners.add(listener),

    async start(generation, instead) {
      const version = store.open()
      const active = version.inState('active')
      if (active?.name !== instead) return false
      active?.become('replaced')
      version.generations.set(generation.name, new GenerationData(generation, 'active', store.names))
      store.listeners.progress(generation.name)
      return true
    },

    all: async () => store.open().stored(),

    async build(generation): Promise<Generation> {
      const version = store.open()
      const building = version.inState('building')
      if (building?.logId === generation.logId) {
        building.become('building')
        return generationOf(building)
      }
      if (building !== undefined) version.generations.delete(building.name)
      version.generations.set(generation.name, new GenerationData(generation, 'building', store.names))
      return generation
    },

    async activate(name) {
      const building = store.generation(name)
      const active = store.open().inState('active')
      if (building?.state !== 'building' || (active?.logId ?? building.logId) !== building.logId) return 'not_building'
      const reached = checkpointsOf(building).checkpoints
      const before = checkpointsOf(active).checkpoints
      if (reached === undefined) return 'incomplete'
      for (const [partition, { next }] of before ?? []) {
        if (next <= (reached.get(partition)?.next ?? 0)) continue
        if (active && timeOfDay().getTime() - active.paused >= pauseEveryMs) active.paused = timeOfDay().getTime()
        return 'behind'
      }
      if (!building.isComplete(...building.sizes().keys())) return 'incomplete'
      active?.become('replaced')
      building.become('active')
      building.continues = before && active?.name
      store.listeners.progress(name)
      return 'activated'
    },

    remove: async (name) => store.generation(name)?.state !== 'active' && store.open().generations.delete(name),

    async renew() {
      store.open().renewed = timeOfDay().getTime()
    },

    async versions() {
      store.open()
      return store.data.renewed()
    },

    async removeVersion({ version, renewed }, logId) {
      store.open()
      const found = store.data.versions.get(version)
      const isForeign = found?.stored().some((each) => each.state !== 'replaced' && each.logId !== logId)
      if (version === store.version || isForeign || found?.renewed !== renewed) return false
      return store.data.versions.delete(version)
    },

    async prune(graceMs) {
      const own = store.open()
      const now = timeOfDay().getTime()
      const end = now - graceMs
      for (const each of own.generations.values()) if (each.state !== 'active') each.since = Math.min(each.since, now)
      const generations = own.stored().filter(({ state, since }) => state !== 'active' && since <= end)
      for (const { name } of generations) own.generations.delete(name)
      return generations.map(({ name }) => name)
    },
  }
}

function checkpointsOf(generation: GenerationData | undefined): Pick<Look, 'checkpoints' | 'damage'> {
  try {
    return { checkpoints: generation?.checkpoints }
  } catch (error) {
    if (error instanceof DamagedError) return { checkpoints: undefined, damage: error.damage }
    throw error
  }
}

function generationOf({ name, logId }: Generation): Generation {
  return { name, logId }
}

function activeOf(active: GenerationData): ActiveGeneration {
  return { ...generationOf(active), continues: active.continues }
}
