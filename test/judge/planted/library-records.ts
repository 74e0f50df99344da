import type { Random } from '../../lib/random.ts'
import { eventIn, type History, isOfService, type LogRecord } from '../history.ts'
import { append, drawAgain, freshId, isOk, type Plant, without } from './records.ts'
import { writerOf } from './spoil.ts'

interface SeveralEvent {
  readonly id: string
  readonly subject: string
  readonly data: { readonly events: readonly { id: string; type: string; data: Readonly<Record<string, unknown>> }[] }
}

/** Bugs in what the library writes to the log. */
export const plantedInLibraryRecords: Readonly<Record<string, Plant>> = {
  'a record of several events is lost': (history, random) => {
    const told = new Set(history.exchanges.filter(isOk).map(({ number }) => number))
    const several = severalOf(history).filter((record) => told.has(writerOf(record)))
    return several.length === 0 ? undefined : without(history, random.pick(several))
  },
  'a book comes back, and is not lent on': half(0),
  'a book is lent on that did not come back': half(1),
  'a book is lent on, and then comes back': changed(({ data, ...event }) => {
    return { ...event, data: { events: data.events.toReversed() } }
  }),
  'a book is lent on to another member': changedLent((lent) => ({ ...lent, memberId: Number(lent.memberId) + 1 })),
  'a book is lent on to a loan that nobody waited for': changedLent((lent) => ({
    ...lent,
    loanId: freshIdBeside(Number(lent.loanId)),
  })),
  'a book is lent on to who waited second': (history, random) => {
    const reserved = history.log.map(eventOf).filter(({ type }) => type === 'library.BookReserved.v1')
    const waiting = (subject: string, loanId: unknown) =>
      reserved.findLast((each) => each.subject === subject && each.data.reservationId !== loanId)?.data
    return changedLent((lent, { subject }) => {
      const second = waiting(subject, lent.loanId)
      return second && { ...lent, loanId: second.reservationId, memberId: second.memberId }
    })(history, random)
  },
  'a book that is lent on is due another day': changedLent((lent) => ({ ...lent, due: '2030-01-01T00:00:00.000Z' })),
  'two events of a record have one id': changed(({ data, ...event }) => {
    const [first] = data.events
    return { ...event, data: { events: data.events.map((each) => ({ ...each, id: first?.id ?? '' })) } }
  }),
  'the id of a book is drawn twice': (history, random) => drawAgain(history, random, 'addBook', 'BookAdded'),
  'the id of a loan is drawn twice': (history, random) => drawAgain(history, random, 'lendBook', 'BookLent'),
  'the id of a reservation is drawn twice': (history, random) =>
    drawAgain(history, random, 'reserveBook', 'BookReserved'),
  'a record of several events is appended twice': (history, random) => {
    const several = severalOf(history)
    return several.length === 0 ? undefined : append(history, random.pick(several))
  },
}

function eventOf(record: LogRecord) {
  return JSON.parse(record.value ?? '') as Record<string, unknown> & { readonly data: Record<string, unknown> }
}

/** Those that took effect: no rival had their version before. */
function severalOf({ log }: History): LogRecord[] {
  const first = new Map(log.toReversed().map((record) => [`${record.key} ${eventIn(record)?.streamversion}`, record]))
  return [...first.values()].filter((record) => isOfService(record) && eventIn(record)?.type === 'library.Several.v1')
}

/** A record of several has the one alone. */
function half(index: 0 | 1): Plant {
  return changed(({ data, ...event }) => ({ ...event, ...data.events[index] }))
}

function changedLent(
  change: (lent: Readonly<Record<string, unknown>>, event: SeveralEvent) => object | undefined,
): Plant {
  return changed((event) => {
    const [returned, lent] = event.data.events
    const data = lent && change(lent.data, event)
    return data && { ...event, data: { events: [returned, { ...lent, data }] } }
  })
}

/** One record of several is another one. */
function changed(change: (event: SeveralEvent) => object | undefined): Plant {
  return (history, random: Random) => {
    const places = severalOf(history).flatMap((record) => {
      const event = change(JSON.parse(record.value ?? ''))
      return event === undefined ? [] : [{ record, event }]
    })
    if (places.length === 0) return undefined
    const { record, event } = random.pick(places)
    const spoilt = { ...record, value: JSON.stringify(event) }
    return { ...history, log: history.log.map((one) => (one === record ? spoilt : one)) }
  }
}

function freshIdBeside(id: number): number {
  return freshId({ log: [], exchanges: [] }, id)
}
