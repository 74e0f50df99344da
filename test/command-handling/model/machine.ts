import type { EventLog } from '../../../src/event-log/event-log.ts'
import { RemoteLog } from './remote-log.ts'
import { RemoteReadModels } from './remote-read-models.ts'
import type { SharedReadModels } from './shared-read-models.ts'
import { Wire } from './wire.ts'

/** What one process runs on: its ways to the event log and to the read models. */
export class Machine {
  readonly log: RemoteLog
  readonly store: RemoteReadModels
  readonly #wire: Wire

  constructor(log: EventLog, shared: SharedReadModels, latencyMs: () => number) {
    this.#wire = new Wire(latencyMs)
    this.log = new RemoteLog(log, this.#wire)
    this.store = new RemoteReadModels(shared, this.#wire)
  }

  /** Whatever runs on it is no more. */
  kill(end: { readonly requestsArrive: boolean }): void {
    this.#wire.cut(end)
    this.log.abandon()
  }

  heal(): void {
    this.log.heal()
    this.store.comeBack()
  }
}
