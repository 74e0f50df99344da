import type { Offset } from '../../src/engine/log/event-log.ts'

/** What a process that replays a log prints at its end, as JSON. */
export interface Replay {
  readonly events: number
  /** From when the first events were there until the last ones were done. */
  readonly ms: number
  /** CPU time of the process, all its threads, in the same time: steadier than `ms` where others use the machine too. */
  readonly cpuMs: number
  /** The most memory that the process had. */
  readonly peakMiB: number
}

/** Measures a replay of `events` events, all that the log holds. */
export class Stopwatch {
  readonly #events: number
  readonly #positions = new Map<number, Offset>()
  readonly #end = Promise.withResolvers<Replay>()
  #start: { readonly time: number; readonly cpu: NodeJS.CpuUsage } | undefined

  constructor(events: number) {
    this.#events = events
  }

  /** Resolves once all are done. */
  get ended(): Promise<Replay> {
    return this.#end.promise
  }

  /** To be called with each batch before anything is done with it: the first call starts the clock. */
  begin(): void {
    this.#start ??= { time: performance.now(), cpu: process.cpuUsage() }
  }

  /** All before `next` are done in a partition. Positions are added up, not batches: one may come again. */
  reached(partition: number, next: Offset): void {
    this.#positions.set(partition, next)
    const done = this.#positions.values().reduce((sum, position) => sum + position, 0)
    if (done !== this.#events || this.#start === undefined) return
    const { time, cpu } = this.#start
    const { user, system } = process.cpuUsage(cpu) // microseconds
    const peakMiB = process.resourceUsage().maxRSS / 1024
    this.#end.resolve({ events: done, ms: performance.now() - time, cpuMs: (user + system) / 1000, peakMiB })
  }
}
