import { AcknowledgedEvents } from '../../../src/engine/commands/acknowledged-events.ts'
import { commandHandlers } from '../../../src/engine/commands/execution.ts'
import { IdAllocator } from '../../../src/engine/commands/id-allocator.ts'
import { IdBlocks } from '../../../src/engine/commands/id-blocks.ts'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import { EventFeed } from '../../../src/engine/feed/event-feed.ts'
import type { EventLog } from '../../../src/engine/log/event-log.ts'
import { defaultLimits, GroupCommit } from '../../../src/engine/log/group-commit.ts'
import { Projector } from '../../../src/engine/projector/projector.ts'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import { ProvenReadModel } from '../../../src/engine/read-models/proven-read-model.ts'
import { Tracker } from '../../../src/engine/read-models/tracker.ts'
import { rebuild } from '../../../src/engine/rebuilding/rebuild.ts'
import { logger } from '../../engine/projector/projecting.ts'
import { remoteLog } from './remote-log.ts'
import { remoteStore } from './remote-store.ts'
import { Routes } from './routes.ts'
import { Wire } from './wire.ts'

const timeoutMs = 2000

/** What all processes share, and how long each way to it takes. */
export interface Shared {
  readonly definition: Definition
  readonly log: EventLog
  readonly store: ReadModelStore
  readonly latencyMs: () => number
  /** Told of errors that no one may get to see. */
  readonly foundBug: (error: unknown) => void
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

  /** Resolves once it is no more. */
  protected get end(): Promise<void> {
    return this.#wire.end
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

/** One that serves requests, put together as `src/engine/app/service.ts` does it. */
export class ApiProcess extends Process {
  readonly url = 'http://api'
  readonly instance: string
  readonly readModel: ProvenReadModel
  readonly events: EventFeed
  readonly acknowledged: AcknowledgedEvents
  readonly #routes: Routes

  constructor(shared: Shared, instance: string) {
    super(shared)
    this.instance = instance
    const { log, store } = this
    const { definition } = shared
    const tracker = new Tracker(store.generations)
    this.readModel = new ProvenReadModel({ ...store, tracker, log })
    const collections = definition.resources.map(({ collection }) => collection)
    const blocks = new IdBlocks({ log, readModel: this.readModel, collections, logger })
    const ids = new IdAllocator(log, blocks)
    ids.prepare()
    this.acknowledged = new AcknowledgedEvents({ log, readModel: this.readModel, ids, logger })
    const commands = commandHandlers({
      readModel: this.readModel,
      log,
      appender: new GroupCommit(log, defaultLimits),
      ids,
      acknowledged: this.acknowledged,
      definition,
      now: () => new Date(),
      timeoutMs,
    })
    this.events = new EventFeed({ definition, log, readModel: this.readModel })
    const { readModel, events } = this
    const services = {
      readModel,
      events,
      commands,
      log,
      definition,
      rate: undefined,
      findKey: () => undefined,
    }
    this.#routes = new Routes(services, shared.foundBug)
  }

  /** Rejects once the process is no more. */
  answer(url: URL, sent: RequestInit, hasLeft: () => boolean): Promise<Response> {
    const ended = this.end.then(() => Promise.reject(new TypeError('the connection was lost')))
    return Promise.race([this.#routes.answer(url, sent, hasLeft), ended])
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
    const { definition } = shared
    const options = { log, store, tracker: this.#tracker, definition, group, logger }
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
    this.done = rebuild({ log, store, definition: shared.definition, logger })
  }
}
