import { partitionOf } from '../../../src/engine/log/kafka/default-partitioner.ts'
import type { Random } from '../../lib/random.ts'
import {
  type Exchange,
  eventIn,
  type History,
  isOfService,
  type LogRecord,
  numberOf,
  traceparentOf,
} from '../history.ts'
import { partitions } from '../simulated.ts'

export type Plant = (history: History, random: Random) => History | undefined

/** Bugs in what is written to the log. Some take no effect there. */
export const plantedInRecords: Readonly<Record<string, Plant>> = {
  'a record is lost': loseRecord,
  'a pet is written twice': (history, random) =>
    withAnother(history, random, (event) => ({ ...event, id: `${event.id} again` })),
  'an event is of no request': (history, random) =>
    withAnother(history, random, ({ traceparent: _, ...event }) => ({
      ...event,
      id: `${event.id} more`,
      data: { ...event.data, name: 'nobody' },
    })),
  'two events of a stream are swapped': swapRecords,
  'a write is confirmed before it is in the log': delayRecord,
  'the id of a pet is drawn twice': (history, random) => drawAgain(history, random, 'createPet', 'PetCreated'),
  'the id of an order is drawn twice': (history, random) => drawAgain(history, random, 'placeOrder', 'OrderPlaced'),
  'the id of a category is drawn twice': (history, random) =>
    drawAgain(history, random, 'createCategory', 'CategoryAdded'),
  'an event is appended twice': (history, random) => {
    const own = history.log.filter(isOfService)
    return own.length === 0 ? undefined : append(history, random.pick(own))
  },
  'a key has two event ids': addUnderKey,
}

/** An id that nobody has, in the same partition, and above all others. */
export function freshId({ log }: History, like: number): number {
  const partition = partitionOf(String(like), partitions)
  let id = 5_000_000 + log.length
  while (partitionOf(String(id), partitions) !== partition) id++
  return id
}

/** The record of a pet that was added without a key. */
function createdRecord({ log, exchanges }: History, random: Random): LogRecord | undefined {
  const told = new Map(exchanges.filter((one) => isOk(one) && !one.idempotencyKey).map((one) => [one.number, one]))
  const records = log.filter((record) => {
    const { type, traceparent } = JSON.parse(record.value ?? '')
    return /\.PetCreated\./.test(type) && told.has(numberOf(traceparent) ?? -1)
  })
  return records.length === 0 ? undefined : random.pick(records)
}

function loseRecord(history: History, random: Random): History | undefined {
  const lost = createdRecord(history, random)
  if (lost === undefined) return undefined
  return without(history, lost)
}

/** It is at the end of its partition, behind what was asked for after its answer. */
function delayRecord(history: History, random: Random): History | undefined {
  const answeredMs = new Map(history.exchanges.filter(isOk).map((one) => [one.number, one.answeredMs]))
  const sentMs = new Map(history.exchanges.map((one) => [one.number, one.sentMs]))
  const writer = (record: LogRecord) => numberOf(JSON.parse(record.value ?? '').traceparent) ?? -1
  const isBehind = (record: LogRecord) => (other: LogRecord) =>
    other.partition === record.partition &&
    other.offset > record.offset &&
    (sentMs.get(writer(other)) ?? 0) > (answeredMs.get(writer(record)) ?? Number.POSITIVE_INFINITY)
  const early = history.log.filter((record) => history.log.some(isBehind(record)))
  if (early.length === 0) return undefined
  const record = random.pick(early)
  return append(without(history, record), record)
}

/** Another request wrote an event that creates the same. It came too late to take effect. */
export function drawAgain(history: History, random: Random, operation: Exchange['operation'], type: string) {
  const drawn = history.log.filter(
    (record) => isOfService(record) && eventIn(record)?.type === `${history.service}.${type}.v1`,
  )
  const others = history.exchanges.filter((exchange) => exchange.operation === operation)
  if (drawn.length === 0 || others.length < 2) return undefined
  const record = random.pick(drawn)
  const { traceparent, idempotencykey: _, ...event } = JSON.parse(record.value ?? '')
  const other = others.find(({ number }) => number !== numberOf(traceparent))
  const again = { ...event, id: `${event.id} again`, traceparent: traceparentOf(other?.number ?? 0) }
  return append(history, { ...record, value: JSON.stringify(again) })
}

/** A pet is in the log once more under its key, with another id and another event id. It takes no effect. */
function addUnderKey(history: History, random: Random): History | undefined {
  const keyed = history.log.filter(({ value }) => value?.includes('idempotencykey') && value.includes('PetCreated'))
  if (keyed.length === 0) return undefined
  const record = random.pick(keyed)
  const event = JSON.parse(record.value ?? '')
  const id = freshId(history, Number(record.key))
  const again = { ...event, id: `${event.id} again`, subject: String(id), data: { ...event.data, id } }
  return append(history, { ...record, key: String(id), value: JSON.stringify(again) })
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
  return append(history, { ...record, key: String(id), value })
}

/** The records after it move up. */
export function without(history: History, lost: LogRecord): History {
  const isLater = (record: LogRecord) => record.partition === lost.partition && record.offset > lost.offset
  const left = history.log.filter((record) => record !== lost)
  return { ...history, log: left.map((one) => (isLater(one) ? { ...one, offset: one.offset - 1 } : one)) }
}

/** At the end of its partition. */
export function append(history: History, record: LogRecord): History {
  const offset = endsOf(history.log)[record.partition] ?? 0
  return { ...history, log: [...history.log, { ...record, offset }] }
}

/** How many records each partition has. */
export function endsOf(log: readonly LogRecord[]): number[] {
  const counts = new Array<number>(partitions).fill(0)
  for (const { partition } of log) counts[partition] = (counts[partition] ?? 0) + 1
  return counts
}

/** The order is approved, or ends, before it is placed. */
function swapRecords(history: History, random: Random): History | undefined {
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
