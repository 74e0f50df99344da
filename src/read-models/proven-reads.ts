import { ServiceError } from '../errors.ts'
import type { EventLog, Offset } from '../event-log/event-log.ts'
import { SingleFlight } from '../single-flight.ts'
import { within } from '../time-limit.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Proof, RangeQuery, ReadModels } from './read-models.ts'

const refreshMs = 1000
const readMs = 1500

/** A generation as this process knows it. */
interface View {
  readonly generation: string
  /** Per partition the furthest position this process has seen it at: it is never served from less. */
  readonly seen: Map<number, Offset>
  /** What the log held when the view was last in doubt; undefined while that is still to be asked. */
  required: readonly Offset[] | undefined
  /** Whether the generation holds everything that was acknowledged before it came in doubt. */
  proved: boolean
}

/**
 * Reads that never leave out a document they should hold (decision 0007). A generation is served once it has reached
 * what the log held when this process met it or lost touch with it. From then on an answer with as many documents as
 * were asked for proves itself; a shorter one is read again together with a proof that nothing is missing.
 */
export class ProvenReads {
  readonly #store: ReadModels
  readonly #log: Pick<EventLog, 'ends' | 'epoch'>
  readonly #endListening: () => void
  readonly #timer: NodeJS.Timeout
  #view: View | undefined
  #connected = false
  readonly #refreshing = new SingleFlight(() => this.#refresh())

  constructor(store: ReadModels, log: Pick<EventLog, 'ends' | 'epoch'>) {
    this.#store = store
    this.#log = log
    this.#endListening = store.listen({
      progress: (generation, at) => {
        if (generation === this.#view?.generation && at !== undefined) see(this.#view, at.partition, at.next)
        if (generation !== this.#view?.generation || !this.#view.proved) this.refresh()
      },
      connected: () => {
        this.#connected = true
        this.refresh()
      },
      disconnected: () => {
        this.#connected = false
        doubt(this.#view)
      },
    })
    this.#timer = setInterval(() => this.refresh(), refreshMs).unref()
  }

  get state(): { status: 'up' | 'rebuilding' | 'down'; generation?: string } {
    const generation = this.#view && { generation: this.#view.generation }
    if (!this.#connected) return { status: 'down', ...generation }
    return { status: this.#view?.proved ? 'up' : 'rebuilding', ...generation }
  }

  /** Throws ServiceError read_model_unavailable or read_model_rebuilding, within 1.5 s. */
  async range(query: RangeQuery): Promise<string[]> {
    const view = this.#view
    if (!this.#connected) throw new ServiceError('read_model_unavailable', 'The read models are out of reach.')
    if (!view?.proved) throw rebuilding()
    // The store's own time limits hold for each command, not for all of a read.
    return within(readMs, this.#read(view, query), tooLate)
  }

  /** Looks at the stored positions soon. */
  refresh(): void {
    this.#refreshing.request()
  }

  async close(): Promise<void> {
    this.#endListening()
    clearInterval(this.#timer)
    await this.#refreshing.stop()
  }

  async #read(view: View, query: RangeQuery): Promise<string[]> {
    const found = await this.#store.range(view.generation, query)
    if (found.length === query.limit) return found
    const { documents, proof } = await this.#store.provenRange(view.generation, query)
    if (!proves(view, proof)) {
      doubt(view)
      this.refresh()
      throw rebuilding()
    }
    seeAll(view, proof.checkpoints)
    return documents
  }

  async #refresh(): Promise<void> {
    try {
      await this.#lookAtPositions()
    } catch {
      // Out of reach: a view in doubt stays in doubt, and is looked at again within a second.
    }
  }

  async #lookAtPositions(): Promise<void> {
    const active = await this.#store.active()
    if (active?.epoch !== this.#log.epoch) {
      this.#view = undefined
      return
    }
    const isKnown = this.#view?.generation === active.name
    const view = isKnown && this.#view ? this.#view : newView(active.name)
    this.#view = view
    if (!view.proved) view.required ??= await this.#required(isKnown)
    const checkpoints = await this.#store.checkpoints(view.generation)
    if (checkpoints === undefined || !reaches(view, checkpoints)) return doubt(view)
    seeAll(view, checkpoints)
    view.proved = view.required !== undefined
  }

  // A generation known before is held to what this process saw of it, even when the log cannot say what more there is.
  async #required(isKnown: boolean): Promise<readonly Offset[] | undefined> {
    try {
      return await this.#log.ends()
    } catch (error) {
      if (isKnown) return []
      throw error
    }
  }
}

function newView(generation: string): View {
  return { generation, seen: new Map(), required: undefined, proved: false }
}

function doubt(view: View | undefined): void {
  if (view === undefined || !view.proved) return
  view.proved = false
  view.required = undefined
}

function see(view: View, partition: number, next: Offset): void {
  if (next > (view.seen.get(partition) ?? 0)) view.seen.set(partition, next)
}

function seeAll(view: View, checkpoints: ReadonlyMap<number, Checkpoint>): void {
  for (const [partition, { next }] of checkpoints) see(view, partition, next)
}

function reaches(view: View, checkpoints: ReadonlyMap<number, Checkpoint>): boolean {
  const isAt = (partition: number, offset: Offset) => (checkpoints.get(partition)?.next ?? 0) >= offset
  const seen = [...view.seen].every(([partition, offset]) => isAt(partition, offset))
  return seen && (view.required ?? []).every((offset, partition) => isAt(partition, offset))
}

function proves(view: View, { active, checkpoints, held, added }: Proof): boolean {
  return active === view.generation && held === added && reaches(view, checkpoints)
}

function rebuilding(): ServiceError {
  return new ServiceError('read_model_rebuilding', 'The read models are catching up with the event log.')
}

function tooLate(): ServiceError {
  return new ServiceError('read_model_unavailable', 'The read models did not answer in time.')
}
