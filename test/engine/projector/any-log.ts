import fc from 'fast-check'
import type { OrderEvent } from '../../../src/store/events.ts'
import { ReferenceConsumer } from '../../store/reference-consumer.ts'
import { type AnyRecord, altered, discard, keyed, newerEvent, orderEvent, petCreated, record } from './records.ts'

/** What is drawn of one record: it makes sense only where it will stand. */
const anyDraw = fc.record({
  kind: fc.constantFrom(
    ...Array<'order'>(10).fill('order'),
    ...Array<'pet'>(5).fill('pet'),
    ...Array<'discard'>(5).fill('discard'),
    ...(['newer', 'unreadable', 'skipped', 'again'] as const),
  ),
  stream: fc.integer({ min: 1, max: 4 }),
  /** Added to the next version: rivals and gaps. */
  off: fc.constantFrom(0, 0, 0, 0, 0, 0, -1, 1, -2),
  key: fc.option(fc.integer({ min: 1, max: 3 }), { freq: 3 }),
  choice: fc.nat(1000),
})
type Draw = typeof anyDraw extends fc.Arbitrary<infer T> ? T : never

/**
 * A log with everything in it: rivals, gaps, duplicates, unreadable and newer events, discards of what is parked and of what
 * is not. `isSound`: no key and no order id is used for two streams, but for keys of first events: what became of another
 * stream meanwhile then makes no difference to an event that was parked behind another one.
 */
export function anyLog({ isSound }: { isSound: boolean }): fc.Arbitrary<AnyRecord[]> {
  return fc.array(anyDraw, { maxLength: 40, size: 'max' }).map((draws) => {
    const consumer = new ReferenceConsumer()
    const log: AnyRecord[] = []
    for (const draw of draws) {
      const next = recordOf(draw, log, consumer, isSound)
      consumer.read(next)
      log.push(next)
    }
    return log
  })
}

function recordOf(draw: Draw, log: readonly AnyRecord[], consumer: ReferenceConsumer, isSound: boolean): AnyRecord {
  const { stream, off, key, choice } = draw
  // Before its pet most of a stream would be parked.
  const kind = draw.kind === 'order' && !consumer.pets[stream] && choice % 5 > 0 ? 'pet' : draw.kind
  const version = consumer.versionOf(String(stream)) + 1 + off
  const isShared = !isSound || (kind === 'pet' && version === 1)
  const identity: ReturnType<typeof keyed> | Record<string, never> =
    key === null ? {} : keyed(isShared ? `key ${key}` : `key ${stream}/${key}`)
  const context = { version, time: new Date(Date.UTC(2026, 10, 20, 9, choice % 60)).toISOString(), ...identity }
  switch (kind) {
    case 'pet':
      return petCreated({ id: stream, name: `pet ${choice % 3}` }, context)
    case 'order':
      return orderEvent(...anyOrder(choice, consumer, stream, isSound), version, context)
    case 'newer':
      return newerEvent(String(stream), version, identity.idempotency && { idempotencykey: identity.idempotency.key })
    case 'unreadable':
      return altered(petCreated({ id: stream }, context), { data: { id: stream } })
    case 'discard': {
      const target = consumer.unread[choice % (consumer.unread.length + 1)]
      return target === undefined ? discard(String(stream), choice % 30) : discard(target.stream, target.offset)
    }
    case 'again':
      return log[choice % (log.length + 1)] ?? record(null)
    case 'skipped':
      return [record('garbage', '1'), altered(petCreated({ id: stream }), {}, '9')][choice % 2] ?? record(null)
  }
}

/** Mostly what the pet allows. */
function anyOrder(
  choice: number,
  { pets, orders }: ReferenceConsumer,
  pet: number,
  isSound: boolean,
): [OrderEvent['type'], number, number] {
  const types = ['OrderPlaced', 'OrderApproved', 'OrderDelivered', 'OrderCancelled'] as const
  const open = Object.values(orders).find(
    ({ petId, status }) => petId === pet && /placed|approved/.test(String(status)),
  )
  const anyOrderId = isSound ? pet * 100 + (choice % 3) : 100 + (choice % 8)
  const anyType = types[choice % types.length] ?? 'OrderPlaced'
  if (choice % 7 === 0) return [anyType, pet, anyOrderId]
  if (open !== undefined) return [types[1 + (choice % 3)] ?? anyType, pet, Number(open.id)]
  return [pets[pet]?.status === 'available' ? 'OrderPlaced' : anyType, pet, anyOrderId]
}
