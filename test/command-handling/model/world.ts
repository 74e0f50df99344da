import { pino } from 'pino'
import { pets } from '../../../projections/pets.ts'
import type { EventLog } from '../../../src/event-log/event-log.ts'
import { Projector } from '../../../src/projector/projector.ts'
import { ApiProcess } from './api-process.ts'
import { Clients } from './clients.ts'
import { Machine } from './machine.ts'
import { appendMsMax } from './remote-log.ts'
import { SharedReadModels } from './shared-read-models.ts'
import type { Step } from './steps.ts'
import { done, pass, until } from './virtual-time.ts'

const logger = pino({ level: 'silent' })
const settledMsMax = 30_000
const closedMsMax = 1000

/** Two API processes and a projector over one event log and one set of read models, and the clients that use them. */
export class World {
  readonly clients = new Clients()
  readonly log: EventLog
  readonly readModels = new SharedReadModels()
  readonly apis: ApiProcess[]
  readonly #latencyMs: () => number
  #projector: { readonly machine: Machine; readonly started: Promise<{ close(): Promise<void> }> }
  #projectors = 0

  constructor(log: EventLog, latenciesMs: readonly number[]) {
    this.log = log
    let turn = 0
    this.#latencyMs = () => latenciesMs[turn++ % latenciesMs.length] ?? 1
    this.#projector = this.#startProjector()
    this.apis = [0, 1].map(() => new ApiProcess(this.#newMachine()))
  }

  async take({ pause, what }: Step): Promise<void> {
    await pass(pause)
    switch (what.kind) {
      case 'create':
        return this.clients.create(this.#api(what.api), what)
      case 'read':
        return this.clients.read(this.#api(what.api), what)
      case 'append fault':
        return this.#api(what.api).machine.log.failAppend(what.fault)
      case 'crash':
        this.#api(what.api).machine.kill(what)
        this.apis[what.api] = new ApiProcess(this.#newMachine())
        return
      case 'read models out of reach':
        return (what.of === 'projector' ? this.#projector : this.#api(what.of)).machine.store.goAwayFor(what.ms)
      case 'projector closed':
        void this.#projector.started.then((projector) => projector.close())
        this.#projector = this.#startProjector()
        return
      case 'projector killed':
        this.#projector.machine.kill(what)
        this.#projector = this.#startProjector()
        return
      case 'read models emptied':
        return this.readModels.empty()
      case 'generation started':
        return this.readModels.startGeneration(this.log.epoch)
    }
  }

  /** From now on nothing fails, and what was on its way to the log is there. */
  async heal(): Promise<void> {
    for (const { machine } of [this.#projector, ...this.apis]) machine.heal()
    await pass(appendMsMax)
  }

  /** Everybody has an answer whom a living process can give one, and the read models are up to the log. */
  settled(): Promise<void> {
    const isSettled = () =>
      this.clients.allAnswered(this.apis) && this.apis.every(({ isUp }) => isUp) && this.#isCaughtUp()
    return until(isSettled, settledMsMax)
  }

  async close(): Promise<void> {
    for (const { machine } of [this.#projector, ...this.apis]) machine.kill({ requestsArrive: false })
    await done(Promise.all([this.readModels.close(), this.log.close()]), closedMsMax)
  }

  #api(index: number): ApiProcess {
    const api = this.apis[index]
    if (api === undefined) throw new RangeError(`process ${index} of ${this.apis.length}`)
    return api
  }

  #newMachine(): Machine {
    return new Machine(this.log, this.readModels, this.#latencyMs)
  }

  #startProjector() {
    const machine = this.#newMachine()
    // A group of its own: the one before it may still be at work.
    const group = `projector ${this.#projectors++}`
    const started = Projector.start({ ...machine, definition: pets, group, logger, reconcileMs: 200 })
    return { machine, started }
  }

  async #isCaughtUp(): Promise<boolean> {
    const active = await this.readModels.data.active()
    const checkpoints = active && (await this.readModels.data.checkpoints(active.name))
    const ends = await this.log.ends()
    return ends.every((end, partition) => end === (checkpoints?.get(partition)?.next ?? 0))
  }
}
