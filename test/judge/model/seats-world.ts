import fc from 'fast-check'
import type { EventLog } from '../../../src/engine/log/event-log.ts'
import { MemoryData } from '../../../src/engine/testing/memory/memory-data.ts'
import { partitionsOf } from '../../engine/log/contract/fixture.ts'
import { RecordingSubscriber } from '../../engine/log/recording-subscriber.ts'
import { everything, parkedIn } from '../../engine/projector/projecting.ts'
import { asText, bookingEvent, discard, seatAdded, several } from '../../engine/projector/records.ts'
import { memoryReadModels } from '../../engine/read-models/memory-read-models.ts'
import { seats as words } from '../../engine/theatre/seat-words.ts'
import { traceparentOf } from '../history.ts'
import { ApiProcess, ProjectorProcess, type Shared } from './process.ts'
import { rebooking } from './rebooking.ts'
import { appendFaults, appendMsMax } from './remote-log.ts'
import { done, pass, until } from './virtual-time.ts'

/** The seats that are there from the beginning: few, so that requests meet. */
export const seats = [1, 2, 3]
const [settledMsMax, closedMsMax] = [60_000, 1000]

const api = fc.constantFrom(0, 1)
const who = fc.constantFrom<(number | 'projector')[]>('projector', 0, 1)
const seat = fc.constantFrom(...seats)
const does = <Name extends string>(name: Name) => ({ does: fc.constant(name) })
const step = fc.oneof(
  {
    weight: 16,
    arbitrary: fc.record({
      ...does('book'),
      api,
      seat,
      key: fc.constantFrom<(string | undefined)[]>(undefined, 'k', 'l'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ ...does('remove'), api, seat }) },
  { weight: 3, arbitrary: fc.record({ ...does('fail'), api, fault: fc.constantFrom(...appendFaults) }) },
  { weight: 3, arbitrary: fc.record({ ...does('crash'), who, requestsArrive: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ ...does('cut off'), who, ms: fc.constantFrom(20, 300, 2500) }) },
  { weight: 1, arbitrary: fc.record({ ...does('lose messages'), who, count: fc.constantFrom(1, 3) }) },
  { weight: 2, arbitrary: fc.record({ ...does('write elsewhere'), seat, isSound: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record(does('empty')) },
  { weight: 8, arbitrary: fc.record({ ...does('pause'), ms: fc.constantFrom(1, 5, 20, 40, 200, 2500) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
export const seatsScript = fc.record({
  steps: fc.array(step, { minLength: 8, maxLength: 60, size: 'medium' }),
  latenciesMs: fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 1, maxLength: 12 }),
})

/** A request for a booking or a removal. Undefined: nobody answered. */
export interface Asked {
  readonly traceparent: string
  readonly seat: number
  readonly key: string | undefined
  readonly isBooking: boolean
  status?: number
  body?: { readonly id?: number; readonly code?: string }
}

/** Two API processes and a projector of the theatre where bookings take seats over, and those who book. */
export class SeatsWorld {
  readonly asked: Asked[] = []
  readonly bugs: unknown[] = []
  readonly store: Shared['store']
  readonly #data = new MemoryData()
  readonly #shared: Shared
  readonly #log: EventLog
  readonly #reader: Promise<RecordingSubscriber>
  readonly #apis: ApiProcess[]
  #projector: ProjectorProcess
  #open = 0
  #strangers = 0
  #starts = 0

  constructor(log: EventLog, latenciesMs: readonly number[]) {
    let turn = 0
    this.#log = log
    this.store = memoryReadModels(this.#data, rebooking.version, rebooking.names)
    this.#shared = {
      ...{ definition: rebooking, log, store: this.store },
      latencyMs: () => latenciesMs[turn++ % latenciesMs.length] ?? 1,
      foundBug: (error) => void this.bugs.push(error),
    }
    this.#reader = RecordingSubscriber.on(log)
    this.#projector = new ProjectorProcess(this.#shared)
    this.#apis = [this.#startApi(), this.#startApi()]
  }

  async play(steps: readonly Step[]): Promise<void> {
    for (const id of seats) await this.#append(seatAdded({ id }, { eventId: `seat ${id}` }))
    await this.settled()
    for (const each of steps) await this.#take(each)
    for (const process of [this.#projector, ...this.#apis]) process.heal()
    await pass(appendMsMax)
    await this.settled()
    for (let [first] = await this.#parked(); first !== undefined; [first] = await this.#parked()) {
      await this.#append(discard(first.stream, first.offset))
      await this.settled()
    }
  }

  /** What an operator may discard: the others wait. */
  async #parked() {
    return parkedIn(await everything(this.store)).filter(({ reason }) => reason !== undefined)
  }

  /** Another program writes two events at once, of which the second one cannot always follow. */
  async #writeElsewhere(seat: number, isSound: boolean): Promise<void> {
    const stream = String(seat)
    const consumer = words.newConsumer()
    for (const record of (await this.records())[this.#log.partitionFor(stream)] ?? []) consumer.read(record)
    const [id, version] = [9_000_000 + this.#strangers++, consumer.versionOf(stream) + 1]
    const about = { eventId: `stranger ${id}` }
    const last = isSound ? 'BookingCancelled' : 'BookingDelivered'
    const events = [
      bookingEvent('BookingPlaced', seat, id, version, about),
      bookingEvent(last, seat, id, version, about),
    ]
    await this.#append(several(events))
  }

  /** The records of each partition, by offset. */
  async records() {
    const reader = await this.#reader
    return partitionsOf(this.#log).map((partition) => reader.records(partition))
  }

  /** What a process tells of the events of a seat. */
  async history(seat: number): Promise<readonly Record<string, unknown>[]> {
    const [first] = this.#apis
    const url = new URL(`http://api/v1/seats/${seat}/events?limit=1000`)
    const answer = first?.answer(url, { method: 'GET', headers: {} }, () => false)
    let found: readonly Record<string, unknown>[] = []
    await done((async () => (found = (await (await answer)?.json()) as typeof found))(), settledMsMax)
    return found
  }

  settled(): Promise<void> {
    return until(async () => {
      const active = await this.store.generations.active()
      const checkpoints = active && (await this.store.generations.checkpoints(active.name))
      const [reader, ends] = [await this.#reader, await this.#log.endOffsets()]
      const isUp = this.#apis.every(({ readModel }) => readModel.state.status === 'up')
      const isRead = (end: number, partition: number) =>
        end === (checkpoints?.get(partition)?.next ?? 0) && end === reader.records(partition).length
      return this.#open === 0 && isUp && ends.every(isRead)
    }, settledMsMax)
  }

  async close(): Promise<void> {
    for (const process of [this.#projector, ...this.#apis]) process.kill({ requestsArrive: false })
    await done(Promise.all([this.store.close(), this.#log.close()]), closedMsMax)
  }

  async #take(what: Step): Promise<void> {
    if (what.does === 'pause') return await pass(what.ms)
    if (what.does === 'write elsewhere') return await this.#writeElsewhere(what.seat, what.isSound)
    if (what.does === 'empty') return this.#data.versions.clear()
    if (what.does === 'book' || what.does === 'remove') return this.#ask(what)
    if (what.does === 'fail') return this.#api(what.api).log.failAppend(what.fault)
    const process = what.who === 'projector' ? this.#projector : this.#api(what.who)
    if (what.does === 'cut off') return process.store.goAwayFor(what.ms)
    if (what.does === 'lose messages') return process.store.loseMessages(what.count)
    process.kill(what)
    if (what.who === 'projector') this.#projector = new ProjectorProcess(this.#shared)
    else this.#apis[what.who] = this.#startApi()
  }

  #ask(what: Extract<Step, { does: 'book' | 'remove' }>): void {
    const { seat } = what
    const [isBooking, key] = what.does === 'book' ? [true, what.key] : [false, undefined]
    const asked: Asked = { traceparent: traceparentOf(this.asked.length), seat, key, isBooking }
    this.asked.push(asked)
    const headers = { traceparent: asked.traceparent, prefer: 'wait=1', ...(key && { 'idempotency-key': `"${key}"` }) }
    const sent = isBooking
      ? { method: 'POST', headers, body: JSON.stringify({ seatId: seat }) }
      : { method: 'DELETE', headers }
    const url = new URL(isBooking ? 'http://api/v1/bookings' : `http://api/v1/seats/${seat}`)
    this.#open++
    const answered = this.#api(what.api).answer(url, sent, () => false)
    void answered
      .then(async (response) => {
        asked.status = response.status
        if (response.status !== 204) asked.body = (await response.json()) as NonNullable<Asked['body']>
      })
      .catch(() => {}) // the process is no more
      .finally(() => this.#open--)
  }

  #api(at: number): ApiProcess {
    return this.#apis[at] ?? raise(at)
  }

  #startApi(): ApiProcess {
    return new ApiProcess(this.#shared, `api#${this.#starts++}`)
  }

  async #append(record: ReturnType<typeof seatAdded>): Promise<void> {
    await this.#log.append(this.#log.partitionFor(String(record.key)), asText([record]))
  }
}

function raise(at: number): never {
  throw new RangeError(`process ${at}`)
}
