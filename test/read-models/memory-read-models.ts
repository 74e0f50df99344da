import { ServiceError } from '../../src/lib/errors.ts'
import { type Checkpoint, startOfPartition } from '../../src/read-models/checkpoint.ts'
import {
  type Contents,
  type DecidedKeys,
  type Entries,
  type ParkedEvents,
  type ParkedThere,
  type Place,
  parkedCharactersMax,
} from '../../src/read-models/inspection.ts'
import type { KeyDecision } from '../../src/read-models/key-decision.ts'
import { Listeners } from '../../src/read-models/listeners.ts'
import type {
  ActiveGeneration,
  AppliedTo,
  ApplyResult,
  Batch,
  Generation,
  Moment,
  ParkedEvent,
  PartitionState,
  RangeAnswer,
  RangeQuery,
  ReadModels,
  ReadModelsListener,
} from '../../src/read-models/read-models.ts'
import type { StoredGeneration, StoredVersion } from '../../src/read-models/upkeep.ts'
import { GenerationData, type MemoryData, type VersionData } from './memory-data.ts'

/** The port, implemented as simply as can be: what the adapters are compared with. */
export class MemoryReadModels implements ReadModels {
  readonly #data: MemoryData
  readonly #version: string
  readonly #listeners = new Listeners({ connected: true })
  #closed = false

  constructor(data: MemoryData, version = 'v1') {
    this.#data = data
    this.#version = version
  }

  async active(): Promise<ActiveGeneration | undefined> {
    const active = this.#open().inState('active')
    return active && { name: active.name, epoch: active.epoch, continues: active.continues }
  }

  async start(generation: Generation, instead: string | undefined): Promise<void> {
    const version = this.#open()
    const active = version.inState('active')
    if (active?.name !== instead) return
    active?.become('replaced')
    version.generations.set(generation.name, new GenerationData(generation, 'active'))
    this.#listeners.progress(generation.name)
  }

  async checkpoints(name: string): Promise<ReadonlyMap<number, Checkpoint> | undefined> {
    const generation = this.#generation(name)
    return generation && new Map(generation.checkpoints)
  }

  async partitionStates(name: string, partitions: readonly number[]): Promise<Map<number, PartitionState> | undefined> {
    const generation = this.#generation(name)
    if (generation === undefined) return undefined
    const stateOf = (partition: number) => ({
      checkpoint: generation.checkpoints.get(partition) ?? startOfPartition,
      parkedSubjects: new Set(generation.parkedSubjects.get(partition)),
    })
    return new Map(partitions.map((partition) => [partition, stateOf(partition)]))
  }

  async parkedUnder(name: string, partition: number, subject: string): Promise<readonly ParkedEvent[]> {
    const parked = this.#generation(name)?.parkedInOrder() ?? []
    const isAskedFor = (event: { partition: number; subject: string }) =>
      event.partition === partition && event.subject === subject
    return parked.filter(isAskedFor).map(({ partition: _, ...event }) => event)
  }

  async apply(name: string, batch: Batch): Promise<ApplyResult> {
    const generation = this.#generation(name)
    if (generation === undefined || generation.state === 'replaced') return { outcome: 'generation_gone' }
    const result = generation.apply(batch)
    const { partition, checkpoint, parked } = batch
    const at: AppliedTo = { partition, next: checkpoint.next, parked: parked.map(({ offset }) => offset) }
    if (result.outcome === 'applied' && generation.state === 'active') this.#listeners.progress(name, at)
    return result
  }

  async range(name: string, { index, from, to = Infinity, limit }: RangeQuery): Promise<RangeAnswer> {
    const generation = this.#generation(name)
    const inRange = (generation?.inserts(index) ?? []).filter(({ id }) => id >= from && id <= to)
    const shown = inRange.slice(0, limit)
    return {
      documents: shown.map(({ document }) => document).join(','),
      count: shown.length,
      last: inRange.length > limit ? shown.at(-1)?.id : undefined,
      moment: this.#moment(generation),
      ...(generation?.size(index) ?? { held: 0, added: 0 }),
    }
  }

  async decision(name: string, key: string): Promise<KeyDecision | undefined> {
    return this.#generation(name)?.decisions.get(key)
  }

  async contents(name: string): Promise<Contents | undefined> {
    const generation = this.#generation(name)
    return generation && { moment: this.#moment(generation), ...generation.contents() }
  }

  async entries(
    name: string,
    { index, from, limit }: Pick<RangeQuery, 'index' | 'from' | 'limit'>,
  ): Promise<Entries | undefined> {
    const generation = this.#generation(name)
    if (generation === undefined) return undefined
    const textOf = ({ document, tag }: { document: string; tag: string }) => document + (index === undefined ? tag : '')
    const inserts = generation.inserts(index).filter(({ id }) => id >= from)
    const entries = inserts.slice(0, limit).map((insert) => ({ id: insert.id, text: textOf(insert) }))
    return { moment: this.#moment(generation), entries }
  }

  async decisions(name: string, from: string, limit: number): Promise<DecidedKeys | undefined> {
    const generation = this.#generation(name)
    if (generation === undefined) return undefined
    const end = Number(from) + limit
    const decisions = [...generation.decisions.values()].slice(Number(from), end)
    const next = end < generation.decisions.size ? String(end) : undefined
    return { moment: this.#moment(generation), decisions, next }
  }

  async parked(name: string, from: string, limit: number): Promise<ParkedEvents | undefined> {
    const generation = this.#generation(name)
    if (generation === undefined) return undefined
    const [partition = -1, offset = -1] = from === '' ? [] : from.split('/').map(Number)
    const left = generation
      .parkedInOrder()
      .filter((event) => (event.partition - partition || event.offset - offset) > 0)
    let characters = 0
    const fits = ({ value }: ParkedEvent) => {
      const isBefore = characters < parkedCharactersMax
      characters += value.length
      return isBefore
    }
    const events = left.slice(0, limit).filter(fits)
    const last = events.at(-1)
    const next = last === undefined || events.length === left.length ? undefined : `${last.partition}/${last.offset}`
    return { moment: this.#moment(generation), events, next }
  }

  async parkedAt(name: string, { partition, offset }: Place): Promise<ParkedThere | undefined> {
    const generation = this.#generation(name)
    return generation && { moment: this.#moment(generation), event: generation.parked.get(`${partition}/${offset}`) }
  }

  async generations(): Promise<readonly StoredGeneration[]> {
    return this.#open().stored()
  }

  async build(generation: Generation): Promise<Generation> {
    const version = this.#open()
    const building = version.inState('building')
    if (building?.epoch === generation.epoch) {
      building.become('building')
      return { name: building.name, epoch: building.epoch }
    }
    if (building !== undefined) version.generations.delete(building.name)
    version.generations.set(generation.name, new GenerationData(generation, 'building'))
    return generation
  }

  async activate(name: string): Promise<'activated' | 'behind' | 'incomplete' | 'not_building'> {
    const building = this.#generation(name)
    const active = this.#open().inState('active')
    if (building?.state !== 'building' || (active?.epoch ?? building.epoch) !== building.epoch) return 'not_building'
    for (const [partition, { next }] of active?.checkpoints ?? []) {
      if (next > (building.checkpoints.get(partition)?.next ?? 0)) return 'behind'
    }
    if (!building.isComplete()) return 'incomplete'
    active?.become('replaced')
    building.become('active')
    building.continues = active?.name
    this.#listeners.progress(name)
    return 'activated'
  }

  async remove(name: string): Promise<boolean> {
    return this.#generation(name)?.state !== 'active' && this.#open().generations.delete(name)
  }

  async renew(): Promise<void> {
    this.#open().renewed = Date.now()
  }

  async versions(): Promise<readonly StoredVersion[]> {
    this.#open()
    return this.#data.renewed()
  }

  async prune(graceMs: number): Promise<readonly string[]> {
    const own = this.#open()
    const end = Date.now() - graceMs
    const generations = own.stored().filter(({ state, since }) => state !== 'active' && since <= end)
    for (const { name } of generations) own.generations.delete(name)
    const versions = this.#data.renewed().filter(({ version, renewed }) => version !== this.#version && renewed <= end)
    for (const { version } of versions) this.#data.versions.delete(version)
    return [...versions.map(({ version }) => version), ...generations.map(({ name }) => `${this.#version}/${name}`)]
  }

  listen(listener: ReadModelsListener): () => void {
    return this.#listeners.add(listener)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#listeners.disconnected()
  }

  #open(): VersionData {
    if (this.#closed) throw new ServiceError('read_model_unavailable', 'The read model is closed')
    return this.#data.version(this.#version)
  }

  #generation(name: string): GenerationData | undefined {
    return this.#open().generations.get(name)
  }

  #moment(generation: GenerationData | undefined): Moment {
    return { active: this.#open().inState('active')?.name, checkpoints: new Map(generation?.checkpoints) }
  }
}
