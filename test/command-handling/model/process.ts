import { petStreams } from '../../../src/app/petstore.ts'
import type { CommandHandler, CommandOptions, Handled } from '../../../src/command-handling/command-handler.ts'
import { createCommandHandler } from '../../../src/command-handling/execution.ts'
import { IdAllocator } from '../../../src/command-handling/id-allocator.ts'
import { encodeEvent } from '../../../src/domain/event-codec.ts'
import type { PetEvent } from '../../../src/domain/events.ts'
import type { Order, OrderId, OrderStatus } from '../../../src/domain/order.ts'
import type { NewPet, PetId } from '../../../src/domain/pet.ts'
import { type PetCommand, type PetState, petDecider, petStateCodec } from '../../../src/domain/pet-stream.ts'
import type { EventLog } from '../../../src/event-log/event-log.ts'
import { defaultLimits, GroupCommit } from '../../../src/event-log/group-commit.ts'
import { ServiceError } from '../../../src/lib/errors.ts'
import { Projector } from '../../../src/projector/projector.ts'
import { rebuild } from '../../../src/projector/rebuild.ts'
import { ProvenReadModel } from '../../../src/read-models/proven-read-model.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import { Tracker } from '../../../src/read-models/tracker.ts'
import { logger } from '../../projector/projecting.ts'
import { remoteLog } from './remote-log.ts'
import { remoteStore } from './remote-store.ts'
import { Wire } from './wire.ts'

const timeoutMs = 2000

/** What all processes share, and how long each way to it takes. */
export interface Shared {
  readonly log: EventLog
  readonly store: ReadModelStore
  readonly latencyMs: () => number
}

/** One process, and its ways to the event log and to the read models. */
class Process {
  readonly log: ReturnType<typeof remoteLog>
  readonly store: ReturnType<typeof remoteStore>
  readonly #wire: Wire

  constructor({ log, store, latencyMs }: Shared) {
    this.#wire = new Wire(latencyMs)
    this.log = remoteLog(log, this.#wire)
    this.store = remoteStore(store, this.#wire)
  }

  /** It is no more. */
  kill(end: { readonly requestsArrive: boolean }): void {
    this.#wire.cut(end)
    this.log.abandon()
  }

  heal(): void {
    this.log.heal()
    this.store.heal()
  }
}

export type Result = Handled<PetState | undefined>
export type Ask = Omit<CommandOptions, 'stream'>

/** One that serves requests, without its HTTP, put together as `src/app/service.ts` does it. */
export class ApiProcess extends Process {
  readonly readModel: ProvenReadModel
  readonly #commands: CommandHandler<PetState | undefined, PetEvent>

  constructor(shared: Shared) {
    super(shared)
    const { log, store } = this
    const tracker = new Tracker(store.generations)
    this.readModel = new ProvenReadModel({ reads: store.reads, tracker, log })
    this.#commands = createCommandHandler({
      readModel: this.readModel,
      log,
      appender: new GroupCommit(log, { ...defaultLimits, timeoutMs }),
      ids: new IdAllocator(log),
      kind: { codec: petStateCodec, encode: encodeEvent },
      now: () => new Date(),
      timeoutMs,
    })
  }

  create(newPet: NewPet, ask: Ask): Promise<Result> {
    return this.#handle((id) => ({ type: 'createPet', id: id as PetId, newPet }), { ...ask, stream: 'new' })
  }

  order(petId: PetId, ask: Ask): Promise<Result> {
    const options = { ...ask, stream: String(petId), drawsId: true }
    return this.#handle((id) => ({ type: 'placeOrder', orderId: id as OrderId, petId }), options)
  }

  /** As the route does it: the order says which stream it is part of. */
  async update(orderId: OrderId, status: OrderStatus, ask: Ask): Promise<Result> {
    const { document } = await this.readModel.find({ collection: 'orders', id: orderId }, ask.atLeast)
    if (document === undefined) throw new ServiceError('order_not_found', `There is no order ${orderId}.`)
    const { petId }: Order = JSON.parse(document.json)
    const command: PetCommand = { type: 'updateOrder', orderId, status, ifMatch: undefined, finalVersion: undefined }
    return await this.#handle(() => command, { ...ask, stream: String(petId) })
  }

  #handle(command: (id: number) => PetCommand, options: CommandOptions): Promise<Result> {
    return this.#commands.handle(petDecider, command, options)
  }
}

let groups = 0

export class ProjectorProcess extends Process {
  readonly #tracker: Tracker
  readonly #projector: Promise<Projector>

  constructor(shared: Shared) {
    super(shared)
    const { log, store } = this
    this.#tracker = new Tracker(store.generations, { lookMs: 200 })
    // A group of its own: the one before it may still be at work.
    const group = `projector ${groups++}`
    const options = { log, store, tracker: this.#tracker, definition: petStreams, group, logger }
    this.#projector = Projector.start(options)
  }

  async close(): Promise<void> {
    await (await this.#projector).close()
    await this.#tracker.close()
  }
}

/** Builds the read models anew beside the active ones, as an operator does. */
export class RebuildProcess extends Process {
  readonly done: Promise<unknown>

  constructor(shared: Shared) {
    super(shared)
    const { log, store } = this
    this.done = rebuild({ log, store, definition: petStreams, group: `rebuild ${groups++}`, logger })
  }
}
