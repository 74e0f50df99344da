import { partitionOf } from '../../../src/event-log/kafka/default-partitioner.ts'
import type { Random } from '../../lib/random.ts'
import { type Exchange, type History, type LogRecord, numberOf } from '../history.ts'
import { partitions } from './simulated-log.ts'

/** An id that nobody has, in the same partition, and above all others. */
export function freshId({ log }: History, like: number): number {
  const partition = partitionOf(String(like), partitions)
  let id = 10_000 + log.length
  while (partitionOf(String(id), partitions) !== partition) id++
  return id
}

/** The record of a pet that was added without a key. */
function createdRecord({ log, exchanges }: History, random: Random): LogRecord | undefined {
  const told = new Map(exchanges.filter((one) => isOk(one) && !one.idempotencyKey).map((one) => [one.number, one]))
  const records = log.filter((record) => {
    const { type, traceparent } = JSON.parse(record.value ?? '')
    return type === 'petstore.PetCreated.v1' && told.has(numberOf(traceparent) ?? -1)
  })
  return records.length === 0 ? undefined : random.pick(records)
}

/** The records after it move up. */
export function loseRecord(history: History, random: Random): History | undefined {
  const lost = createdRecord(history, random)
  if (lost === undefined) return undefined
  const isLater = (record: LogRecord) => record.partition === lost.partition && record.offset > lost.offset
  const left = history.log.filter((record) => record !== lost)
  return { ...history, log: left.map((one) => (isLater(one) ? { ...one, offset: one.offset - 1 } : one)) }
}

/** The pet is in the log once more, with another id. */
export function doubleRecord(history: History, random: Random): History | undefined {
  return withAnother(history, random, (event) => ({ ...event, id: `${event.id} again` }))
}

/** A new pet is in the log, of a request that nobody sent. */
export function addRecord(history: History, random: Random): History | undefined {
  return withAnother(history, random, ({ traceparent: _, ...event }) => ({
    ...event,
    id: `${event.id} more`,
    data: { ...event.data, name: 'nobody' },
  }))
}

interface CreatedEvent {
  readonly id: string
  readonly traceparent?: string
  readonly data: object
}

/** At the end of its partition, an event like that of some pet, but for its id. */
function withAnother(history: History, random: Random, change: (event: CreatedEvent) => CreatedEvent) {
  const record = createdRecord(history, random)
  if (record === undefined) return undefined
  const id = freshId(history, Number(record.key))
  const event = change(JSON.parse(record.value ?? ''))
  const value = JSON.stringify({ ...event, subject: String(id), data: { ...event.data, id } })
  const offset = endsOf(history.log)[record.partition] ?? 0
  return { ...history, log: [...history.log, { ...record, key: String(id), value, offset }] }
}

/** How many records each partition has. */
export function endsOf(log: readonly LogRecord[]): number[] {
  const counts = new Array<number>(partitions).fill(0)
  for (const { partition } of log) counts[partition] = (counts[partition] ?? 0) + 1
  return counts
}

/** The order is approved, or ends, before it is placed. */
export function swapRecords(history: History, random: Random): History | undefined {
  const acknowledged = new Set(history.exchanges.filter(isOk).map(({ number }) => number))
  const told = history.log
    .map((record) => ({ record, event: JSON.parse(record.value ?? '') }))
    .filter(({ event }) => acknowledged.has(numberOf(event.traceparent) ?? -1))
  const pairs = told.flatMap((first) => {
    const isNext = ({ record, event }: typeof first) =>
      record.key === first.record.key && event.streamversion === first.event.streamversion + 1
    const second = first.event.type === 'petstore.OrderPlaced.v1' ? told.find(isNext) : undefined
    return second === undefined ? [] : [{ first, second }]
  })
  if (pairs.length === 0) return undefined
  const { first, second } = random.pick(pairs)
  const swapped = new Map([
    [first.record, JSON.stringify({ ...second.event, streamversion: first.event.streamversion })],
    [second.record, JSON.stringify({ ...first.event, streamversion: second.event.streamversion })],
  ])
  return { ...history, log: history.log.map((one) => ({ ...one, value: swapped.get(one) ?? one.value })) }
}

export function isOk({ status }: Exchange): boolean {
  return status === 200 || status === 201
}
