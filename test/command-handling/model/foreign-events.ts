import type { EventLog } from '../../../src/event-log/event-log.ts'
import { type AnyRecord, discard, newerEvent, orderEvent, petCreated } from '../../projector/records.ts'
import type { LogModel } from './log-model.ts'
import type { foreignKinds } from './steps.ts'

/** Two pets that are there from the beginning, one of them ordered, so that requests have something to meet at. */
export function firstEvents(log: EventLog): { records: AnyRecord[]; pets: number[]; order: number } {
  const pets = [2_000_001, 2_000_002] as const
  const order = idBeside(log, pets[1], 2_000_003)
  const records = [
    petCreated({ id: pets[0] }),
    petCreated({ id: pets[1] }),
    orderEvent('OrderPlaced', pets[1], order, 2),
  ]
  return { records, pets: [...pets], order }
}

/** The next id in the partition of the stream. */
function idBeside(log: EventLog, stream: number, from: number): number {
  let id = from
  while (log.partitionFor(String(id)) !== log.partitionFor(String(stream))) id++
  return id
}

/** What another producer writes, which knows the rules: a pet, an event of a stream that there is, a discard. */
export function foreignEvent(
  model: LogModel,
  log: EventLog,
  what: (typeof foreignKinds)[number],
  choice: number,
): AnyRecord | undefined {
  const blockStart = 10_000 * (choice % 2)
  const drawn = model.effects.map(({ pet, order }) => Number((order ?? pet).id) - blockStart)
  // An id that this service draws next.
  const nextId = blockStart + Math.max(0, ...drawn.filter((id) => id < 10_000)) + 1 + (choice % 3)
  if (what === 'pet') return petCreated({ id: nextId }, { eventId: `foreign ${nextId}` })
  const [parked] = model.partitions.flatMap(({ firstParked }) => firstParked)
  if (what === 'discard') return parked && discard(parked.stream, parked.position.offset)
  const { stream, position } = model.effects[choice % model.effects.length] ?? {}
  const { consumer } = model.partitions[position?.partition ?? 0] ?? {}
  const pet = consumer?.pets[Number(stream)]
  if (stream === undefined || consumer === undefined || pet === undefined) return undefined
  const version = consumer.versionOf(stream)
  if (what === 'newer') return newerEvent(stream, version + 1)
  const id = Number(stream)
  if (what === 'stale') return orderEvent('OrderCancelled', id, nextId, version)
  const isOpen = ({ petId, status }: Readonly<Record<string, unknown>>) =>
    petId === id && (status === 'placed' || status === 'approved')
  const open = Object.values(consumer.orders).find(isOpen)
  if (open !== undefined) return orderEvent('OrderCancelled', id, Number(open.id), version + 1)
  return pet.status === 'available' ? orderEvent('OrderPlaced', id, idBeside(log, id, nextId), version + 1) : undefined
}
