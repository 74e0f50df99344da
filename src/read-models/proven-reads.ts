import type { EventLog, Offset } from '../event-log/event-log.ts'
import { ServiceError } from '../lib/errors.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import { within } from '../lib/time-limit.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { KeyDecision } from './key-decision.ts'
import type { RangeAnswer, RangeQuery, ReadModels } from './read-models.ts'

const refreshMs = 1000
const lookLimitMs = 300

/** A generation as this process knows it. */
interface View {
  readonly generation: string
  /**
   * By partition the furthest position this process has seen. An answer must have reached what was seen when it was asked
   * for: later news may overtake it. Replaced, never changed, so that a read can hold on to what it began with.
   */
  seen: readonly Offset[]
  /** The checkpoints looked at last: answers read while nothing is written share the object. */
  checkpoints: ReadonlyMap<number, Checkpoint> | undefined
  /** What the log held when the view was last in doubt; undefined while that is still to be asked. */
  required: readonly Offset[] | undefined
  /** Whether the generation holds everything that was acknowledged before it came in doubt. */
  proved: boolean
  /** Whether it was ever proved. */
  known: boolean
}

/**
 * Reads that never leave out a document they should hold (decision 0007). A generation is served once it has reached
 * what the log held when this process met it or lost touch with it. From then on each answer comes with its proof: the
 * generation is the active one, no position is below any that this process has seen, and nothing added is missing.
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
        if (generation === this.#view?.generation && at !== undefined) seeOne(this.#view, at.partition, at.next)
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

  /** Throws ServiceError read_model_unavailable or read_model_rebuilding, within one second. */
  async range(query: RangeQuery): Promise<RangeAnswer> {
    const answer = await this.#provenRange(query)
    if (answer !== undefined) return answer
    // Another generation may have taken over: one more look, which must not keep the answer for long.
    await within(lookLimitMs, this.#refreshing.request()).catch(() => {})
    const again = await this.#provenRange(query)
    if (again === undefined) throw rebuilding()
    return again
  }

  async #provenRange(query: RangeQuery): Promise<RangeAnswer | undefined> {
    const view = this.#proved()
    const { generation, seen } = view
    const answer = await this.#store.range(generation, query)
    const { active, checkpoints } = answer.moment
    if (active === generation && answer.held === answer.added && reach(checkpoints, seen)) {
      see(view, checkpoints)
      return answer
    }
    if (active === generation || active === undefined) doubt(view)
    this.refresh()
    return undefined
  }

  /**
   * What was decided under an idempotency key. Found, it is so for ever; that nothing is found says nothing yet, as what
   * decides the key may stand in the log already. Throws as `range` does.
   */
  async decision(key: string): Promise<KeyDecision | undefined> {
    return await this.#store.decision(this.#proved().generation, key)
  }

  /** Looks at the stored positions soon. */
  refresh(): void {
    void this.#refreshing.request()
  }

  async close(): Promise<void> {
    this.#endListening()
    clearInterval(this.#timer)
    await this.#refreshing.stop()
  }

  #proved(): View {
    if (!this.#connected) throw new ServiceError('read_model_unavailable', 'The read models are out of reach.')
    if (!this.#view?.proved) throw rebuilding()
    return this.#view
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
    const before = this.#view
    if (before?.proved && before.generation === active.continues) return await this.#continue(before, active.name)
    const view = before?.generation === active.name ? before : newView(active.name)
    this.#view = view
    if (!view.proved) view.required ??= await this.#required(view)
    const { seen } = view
    const checkpoints = await this.#store.checkpoints(view.generation)
    if (checkpoints === undefined || !reach(checkpoints, seen)) return doubt(view)
    see(view, checkpoints)
    // In doubt meanwhile, it has nothing required of it: the next look asks again.
    view.proved = view.required !== undefined && reach(checkpoints, view.required)
    view.known ||= view.proved
  }

  /**
   * The generation was nowhere behind the one before when it took over: what was proved of that one holds of it too.
   * Until its positions are here, reads go on to begin with the one before, as otherwise they would fail.
   */
  async #continue(before: View, generation: string): Promise<void> {
    const checkpoints = await this.#store.checkpoints(generation)
    const view = { ...newView(generation), seen: before.seen }
    this.#view = view
    if (!before.proved) return // touch was lost meanwhile
    if (checkpoints === undefined || !reach(checkpoints, view.seen)) return
    see(view, checkpoints)
    view.required = []
    view.proved = true
    view.known = true
  }

  // A generation once proved is held to what this process saw of it, even when the log cannot say what more there is.
  async #required({ known }: View): Promise<readonly Offset[] | undefined> {
    try {
      return await this.#log.ends()
    } catch (error) {
      if (known) return []
      throw error
    }
  }
}

function newView(generation: string): View {
  return { generation, seen: [], checkpoints: undefined, required: undefined, proved: false, known: false }
}

function doubt(view: View | undefined): void {
  if (view === undefined) return
  view.proved = false
  view.required = undefined
}

function see(view: View, checkpoints: ReadonlyMap<number, Checkpoint>): void {
  if (view.checkpoints === checkpoints) return
  for (const [partition, { next }] of checkpoints) seeOne(view, partition, next)
  view.checkpoints = checkpoints
}

function seeOne(view: View, partition: number, next: Offset): void {
  if (next <= (view.seen[partition] ?? 0)) return
  const seen = [...view.seen]
  seen[partition] = next
  view.seen = seen
}

function reach(checkpoints: ReadonlyMap<number, Checkpoint>, offsets: readonly Offset[]): boolean {
  for (let partition = 0; partition < offsets.length; partition++) {
    if ((checkpoints.get(partition)?.next ?? 0) < (offsets[partition] ?? 0)) return false
  }
  return true
}

function rebuilding(): ServiceError {
  return new ServiceError('read_model_rebuilding', 'The read models are catching up with the event log.')
}
