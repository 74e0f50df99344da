import { randomUUID } from 'node:crypto'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { EventLog } from '../../../src/engine/log/event-log.ts'
import { RebuildError } from '../../../src/engine/rebuilding/rebuild.ts'
import { MemoryData } from '../../../src/engine/testing/memory/memory-data.ts'
import { partitionsOf } from '../../engine/log/contract/fixture.ts'
import { RecordingSubscriber } from '../../engine/log/recording-subscriber.ts'
import { type AnyRecord, asText } from '../../engine/projector/records.ts'
import { memoryReadModels } from '../../engine/read-models/memory-read-models.ts'
import { petstore } from '../../store/petstore.ts'
import type { LogRecord, ServiceName } from '../history.ts'
import { Prefixes } from '../prefixes.ts'
import { Clients } from './clients.ts'
import { discardOf, firstEvents, foreignEvent, rivalOrders, rivalStreams } from './foreign-events.ts'
import { ApiProcess, ProjectorProcess, RebuildProcess, type Shared } from './process.ts'
import { appendMsMax } from './remote-log.ts'
import type { Step } from './steps.ts'
import { done, pass, until } from './virtual-time.ts'

const settledMsMax = 60_000
const closedMsMax = 1000
const waits = { waitSeconds: 1, withToken: false, leavesAfterMs: undefined, readBack: undefined } as const

export interface WorldOf {
  readonly service: ServiceName
  readonly definition: Definition
}

const ofPetstore: WorldOf = { service: 'petstore', definition: petstore }

/** Two API processes and a projector over one event log and one set of read models, and the clients that use them. */
export class World {
  readonly clients: Clients
  readonly apis: ApiProcess[]
  readonly store: Shared['store']
  readonly log: EventLog
  /** Errors without a code, or of an operator's command that is none of those it may end with. */
  readonly bugs: unknown[] = []
  readonly #service: ServiceName
  readonly #data = new MemoryData()
  readonly #shared: Shared
  readonly #reader: Promise<RecordingSubscriber>
  #projector: ProjectorProcess
  readonly #rebuilds = new Set<RebuildProcess>()
  #starts = 0

  constructor(log: EventLog, latenciesMs: readonly number[], { service, definition } = ofPetstore) {
    let turn = 0
    this.log = log
    this.#service = service
    this.store = memoryReadModels(this.#data, definition.version, definition.names)
    const latencyMs = () => latenciesMs[turn++ % latenciesMs.length] ?? 1
    const foundBug = (error: unknown) => void this.bugs.push(error)
    this.#shared = { definition, log, store: this.store, latencyMs, foundBug }
    this.#reader = RecordingSubscriber.on(log)
    this.#projector = new ProjectorProcess(this.#shared)
    this.apis = [this.#startApi(), this.#startApi()]
    this.clients = new Clients(log, this.apis)
  }

  async begin(): Promise<void> {
    const { records, pets, order, category } = firstEvents(this.log)
    for (const record of records) await this.#append(record)
    this.clients.known.pets.push(...pets)
    this.clients.known.orders.push(order)
    this.clients.known.categories.push(category)
    await this.settled()
  }

  async take({ pause, what }: Step): Promise<void> {
    await pass(pause)
    switch (what.kind) {
      case 'write':
        return this.clients.write(what.api, what.what, what)
      case 'read':
        return this.clients.read(what.api, what)
      case 'append fault':
        return this.#api(what.api).log.failAppend(what.fault)
      case 'foreign event':
        return this.#append(foreignEvent(await this.prefixes(), what.what, what.choice))
      case 'rivals of a new stream': {
        const { api, of, choice } = what
        for (const rival of rivalStreams(await this.prefixes(), of, choice)) await this.#append(rival)
        this.#api(api).store.loseMessages(what.messagesLost)
        const rivalled = of === 'pets' ? ({ kind: 'create', pet: 'Rex' } as const) : ({ kind: 'add category' } as const)
        return this.clients.write(api, { ...rivalled, key: undefined }, waits)
      }
      case 'rivals of an order': {
        const { api, pet, key } = what
        for (const rival of rivalOrders(await this.prefixes(), what.choice)) await this.#append(rival)
        this.#api(api).store.loseMessages(what.messagesLost)
        return this.clients.write(api, { kind: 'order', pet, key }, waits)
      }
      case 'crash':
        return this.#crash(what.who, what)
      case 'read models out of reach':
        return this.#process(what.who).store.goAwayFor(what.ms)
      case 'messages lost':
        return this.#process(what.who).store.loseMessages(what.count)
      case 'projector closed':
        void this.#projector.close()
        this.#projector = new ProjectorProcess(this.#shared)
        return
      case 'read models emptied':
        return this.#data.versions.clear()
      case 'generation started': {
        const { generations } = this.store
        const active = await generations.active()
        await generations.start({ name: randomUUID(), logId: this.log.logId }, active?.name)
        return
      }
      case 'rebuild':
        return this.#rebuild()
    }
  }

  /** What is in the log by now. */
  async records(): Promise<LogRecord[]> {
    const reader = await this.#reader
    return partitionsOf(this.log).flatMap((partition) =>
      reader
        .records(partition)
        .map(({ offset, key, value }) => ({ partition, offset, key: String(key), value: String(value) })),
    )
  }

  async prefixes(): Promise<Prefixes> {
    return new Prefixes({ log: await this.records(), exchanges: [], service: this.#service }, this.log.partitions)
  }

  /** From now on nothing fails, what was on its way to the log is there, and an operator discards what is parked. */
  async heal(): Promise<void> {
    for (const process of [this.#projector, ...this.apis, ...this.#rebuilds]) process.heal()
    await pass(appendMsMax)
    await this.settled()
    const firstParked = async () => (await this.prefixes()).fold.firstParked[0]
    for (let first = await firstParked(); first; first = await firstParked()) {
      await this.#append(discardOf(first))
      await this.settled()
    }
  }

  /** Everybody has an answer whom a living process can give one, and the read models are up to the log. */
  settled(): Promise<void> {
    const isSettled = () =>
      this.clients.allAnswered &&
      this.apis.every(({ readModel }) => readModel.state.status === 'up') &&
      this.#rebuilds.size === 0 &&
      this.#isCaughtUp()
    return until(isSettled, settledMsMax)
  }

  async close(): Promise<void> {
    for (const process of [this.#projector, ...this.apis]) process.kill({ requestsArrive: false })
    await done(Promise.all([this.store.close(), this.log.close()]), closedMsMax)
  }

  async #append(record: AnyRecord | undefined): Promise<void> {
    if (record === undefined) return
    await this.log.append(this.log.partitionFor(String(record.key)), asText([record]))
  }

  #api(index: number): ApiProcess {
    const api = this.apis[index]
    if (api === undefined) throw new RangeError(`process ${index} of ${this.apis.length}`)
    return api
  }

  #process(who: number | 'projector'): ApiProcess | ProjectorProcess {
    return who === 'projector' ? this.#projector : this.#api(who)
  }

  #crash(who: number | 'projector', end: { readonly requestsArrive: boolean }): void {
    this.#process(who).kill(end)
    if (who === 'projector') this.#projector = new ProjectorProcess(this.#shared)
    else this.apis[who] = this.#startApi()
  }

  #startApi(): ApiProcess {
    return new ApiProcess(this.#shared, `api#${this.#starts++}`)
  }

  #rebuild(): void {
    const process = new RebuildProcess(this.#shared)
    this.#rebuilds.add(process)
    const ended = (error?: unknown) => {
      this.#rebuilds.delete(process)
      if (error && !(error instanceof ServiceError || error instanceof RebuildError)) this.bugs.push(error)
    }
    process.done.then(() => ended(), ended)
  }

  async #isCaughtUp(): Promise<boolean> {
    const active = await this.store.generations.active()
    const checkpoints = active && (await this.store.generations.checkpoints(active.name))
    const reader = await this.#reader
    const ends = await this.log.endOffsets()
    return ends.every(
      (end, partition) => end === (checkpoints?.get(partition)?.next ?? 0) && end === reader.records(partition).length,
    )
  }
}
