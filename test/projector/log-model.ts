import { eventDiscardedRecord } from '../../src/domain/event-discarded.ts'
import type { LogRecord } from '../../src/event-log/event-log.ts'
import { foreignRecord, petCreated, record } from './records.ts'

/** What a record of a random log says, before it has an offset. */
export type Spec =
  /** Two with one `event` are the same event. */
  | { readonly kind: 'pet'; readonly id: number; readonly event: string; readonly key?: string | undefined }
  | { readonly kind: 'unreadable'; readonly subject: string; readonly name: 'PetCreated' | 'EventDiscarded' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'discard'; readonly subject: string; readonly target: number }

export function recordOf(spec: Spec, offset = 0): LogRecord {
  if (spec.kind === 'foreign') return record(offset, `garbage ${offset}`)
  if (spec.kind === 'unreadable') {
    return foreignRecord(offset, { type: `petstore.${spec.name}.v9`, subject: spec.subject, id: `bad-${offset}` })
  }
  if (spec.kind === 'discard') {
    const { key, value } = eventDiscardedRecord({ subject: spec.subject, offset: spec.target }, new Date(0))
    return record(offset, value.replace(/"id":"[^"]*"/, `"id":"discard-${offset}"`), key) // the same each time
  }
  const identity = spec.key === undefined ? undefined : { key: spec.key, fingerprint: 'f' }
  return petCreated(offset, { id: spec.id, name: spec.event }, spec.event, identity)
}

interface Parked {
  readonly offset: number
  readonly subject: string
  reason: string
  readonly spec: Spec
}

/** What becomes of a log, one record after the other: the table of design section 4, without any batches. */
export class LogModel {
  /** The events that made the pets, by id. */
  readonly pets = new Map<number, string>()
  readonly decided = new Map<string, number>()
  readonly parked: Parked[] = []
  readonly counts = { applied: 0, dropped: 0, parked: 0, skipped: 0 }

  constructor(specs: readonly Spec[]) {
    for (const [offset, spec] of specs.entries()) this.#take(spec, offset)
    this.parked.sort((a, b) => a.offset - b.offset)
    this.counts.parked = this.parked.length
  }

  #take(spec: Spec, offset: number): void {
    if (spec.kind === 'foreign') this.counts.skipped++
    else if (spec.kind === 'discard') this.#discard(spec.subject, spec.target)
    else if (spec.kind === 'unreadable') {
      this.parked.push({ offset, subject: spec.subject, reason: `version 9 of ${spec.name} is not known`, spec })
    } else if (spec.key !== undefined && this.decided.has(spec.key)) this.counts.dropped++
    else {
      if (spec.key !== undefined) this.decided.set(spec.key, offset)
      const reason = this.#problem(spec)
      if (reason === 'known') this.counts.dropped++
      else if (reason !== undefined) this.parked.push({ offset, subject: `${spec.id}`, reason, spec })
      else this.#apply(spec)
    }
  }

  #problem({ id, event }: Extract<Spec, { kind: 'pet' }>): string | undefined {
    if (this.#queue(`${id}`).length > 0) return 'an earlier event of this subject is parked'
    if (this.pets.get(id) === event) return 'known'
    return this.pets.has(id) ? `id ${id} exists under another event id` : undefined
  }

  #apply({ id, event }: Extract<Spec, { kind: 'pet' }>): void {
    this.pets.set(id, event)
    this.counts.applied++
  }

  #discard(subject: string, target: number): void {
    this.counts.dropped++
    const discarded = this.#queue(subject).find(({ offset }) => offset === target)
    if (discarded === undefined) return
    this.#unpark(discarded)
    this.counts.dropped++
    for (const next of this.#queue(subject)) {
      if (next.spec.kind !== 'pet') return
      const { id, event } = next.spec
      if (this.pets.has(id) && this.pets.get(id) !== event) {
        next.reason = `id ${id} exists under another event id`
        return
      }
      this.#unpark(next)
      if (this.pets.has(id)) this.counts.dropped++
      else this.#apply(next.spec)
    }
  }

  #unpark(parked: Parked): void {
    this.parked.splice(this.parked.indexOf(parked), 1)
  }

  #queue(subject: string): Parked[] {
    return this.parked.filter((each) => each.subject === subject)
  }
}
