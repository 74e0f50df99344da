import type { EventLog } from '../../../src/engine/log/event-log.ts'
import { type AnyRecord, altered } from '../../engine/projector/records.ts'
import { categoryAdded, categoryChanged, discard, newerEvent, orderEvent, petCreated } from '../../store/records.ts'
import { eventIn, isOfService, type LogRecord } from '../history.ts'
import { keyOf, type Shown } from '../operations.ts'
import type { Effective, Prefixes } from '../prefixes.ts'
import type { foreignKinds } from './steps.ts'

/** Two pets, one of them ordered, and a category are there from the beginning: requests have something to meet at. */
export function firstEvents(log: EventLog) {
  const pets = [2_000_001, 2_000_002] as const
  const order = idBeside(log, pets[1], 2_000_003)
  const records = [
    petCreated({ id: pets[0] }),
    petCreated({ id: pets[1] }),
    orderEvent('OrderPlaced', pets[1], order, 2),
    categoryAdded({ id: pets[0] }), // two streams have one id
  ]
  return { records: records.map(ofStranger), pets, order, category: pets[0] }
}

function ofStranger(record: AnyRecord): AnyRecord {
  return altered(record, { source: '/stranger' })
}

/** The next id in the partition of the stream. */
function idBeside(log: EventLog, stream: number, from: number): number {
  let id = from
  while (log.partitionFor(String(id)) !== log.partitionFor(String(stream))) id++
  return id
}

/** What an operator writes to discard an event. */
export function discardOf({ key, offset }: LogRecord): AnyRecord {
  return discard(String(key), offset)
}

/** Pets or categories that take the ids which a process of the service draws next, one in each partition. */
export function rivalStreams(prefixes: Prefixes, of: Streams, choice: number): AnyRecord[] {
  return [...prefixes.records.keys()].map((partition) => {
    const id = nextId(prefixes, partition, choice, of)
    const [said, context] = [{ id, name: `foreign ${id}` }, { eventId: `foreign ${of} ${id}` }]
    return ofStranger(of === 'pets' ? petCreated(said, context) : categoryAdded(said, context))
  })
}

type Streams = 'pets' | 'categories'

/** The same with orders, of a pet of its own each. */
export function rivalOrders(prefixes: Prefixes, choice: number): AnyRecord[] {
  const { records, partitionFor } = prefixes
  return [...records.keys()].flatMap((partition) => {
    const isFree = (id: number) => prefixes.document('pets', id).states.length === 0
    let pet = 3_000_001
    while (partitionFor(String(pet)) !== partition || !isFree(pet)) pet++
    const order = orderEvent('OrderPlaced', pet, nextId(prefixes, partition, choice), 2)
    return [petCreated({ id: pet, name: `foreign ${pet}` }), order].map(ofStranger)
  })
}

const blockSize = 10_000

/** The id that a process of the service draws next in a partition, unless it drew one for another kind of streams since. */
function nextId({ records, partitionFor }: Prefixes, partition: number, choice: number, of: Streams = 'pets'): number {
  const isOfKind = ({ key }: LogRecord) => (of === 'pets' ? /^\d+$/ : /^categories\/\d+$/).test(String(key))
  const drawn = records
    .flat()
    .filter((record) => isOfService(record) && isOfKind(record))
    .map(idIn)
  const blockOf = (id: number) => Math.floor((id - 1) / blockSize)
  const blocks = [...new Set([0, 1, ...drawn.map(blockOf)])].sort((one, other) => other - one)
  const block = blocks[choice % 2] ?? 0 // others are mostly given up
  const isHere = (id: number) => partitionFor(keyOf(of, id)) === partition
  let id = Math.max(block * blockSize, ...drawn.filter((each) => blockOf(each) === block && isHere(each))) + 1
  while (!isHere(id)) id++
  return id
}

/** The id that the event draws. */
function idIn(record: LogRecord): number {
  const { orderId } = Object(eventIn(record)?.data) as { readonly orderId?: number }
  return orderId ?? Number(record.key?.replace('categories/', ''))
}

/** Keys of no stream of this release. What lies under the first is parked, and the others are skipped. */
const otherKeys = ['other/1', 'categories/007', 'pets/7']

/** What another producer writes, which knows the rules: an event of a stream that there is, or a discard; or one elsewhere. */
export function foreignEvent(
  prefixes: Prefixes,
  what: (typeof foreignKinds)[number],
  choice: number,
): AnyRecord | undefined {
  const { effects, fold, partitionFor } = prefixes
  if (what === 'discard') return fold.firstParked.map(discardOf)[0]
  const stream =
    what === 'elsewhere' ? otherKeys[choice % otherKeys.length] : effects[choice % effects.length]?.record.key
  if (stream === undefined || stream === null) return undefined
  const version = fold.versionOf(stream)
  if (what === 'newer' || what === 'elsewhere') return ofStranger(newerEvent(stream, version + 1))
  const id = shownBy(
    effects.findLast(({ record }) => record.key === stream),
    'pets',
  )?.id
  if (id === undefined) return ofStranger(changed(stream, what === 'stale' ? version : version + 1))
  const orderId = nextId(prefixes, partitionFor(stream), choice)
  if (what === 'stale') return ofStranger(orderEvent('OrderCancelled', id, orderId, version))
  const last = effects.findLast((effect) => shownBy(effect, 'pets')?.id === id)
  const [pet, order] = [shownBy(last, 'pets'), shownBy(last, 'orders')]
  const isOpen = order?.status === 'placed' || order?.status === 'approved'
  if (isOpen) return ofStranger(orderEvent('OrderCancelled', id, order.id, version + 1))
  return pet?.status === 'available' ? ofStranger(orderEvent('OrderPlaced', id, orderId, version + 1)) : undefined
}

function shownBy(effect: Effective | undefined, collection: Shown): { id: number; status?: string } | undefined {
  return effect?.shown.find((each) => each.collection === collection)?.document
}

/** It cannot be applied to a category that is removed. */
function changed(stream: string, version: number): AnyRecord {
  return categoryChanged(
    { id: Number(stream.replace('categories/', '')) },
    { version, eventId: `${stream} ${version}` },
  )
}
