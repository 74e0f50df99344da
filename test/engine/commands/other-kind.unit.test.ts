import { expect, it } from 'vitest'
import { createCommandHandler } from '../../../src/engine/commands/execution.ts'
import { IdAllocator } from '../../../src/engine/commands/id-allocator.ts'
import { openProjection } from '../projector/projecting.ts'
import { bookingEvent, seatAdded } from '../projector/records.ts'
import { twoKinds } from '../two-kinds.ts'
import { unseenBlocks } from './unseen-blocks.ts'

it('a command about a document that a stream of another kind shows finds none', async () => {
  const [seats, halls] = twoKinds.kinds
  const projection = await openProjection(undefined, twoKinds)
  await projection.apply([seatAdded({ id: 7 }), bookingEvent('BookingPlaced', 7, 12, 2)])
  const log = { ...projection.log, partitions: 1, reserveIdBlock: async () => 1 }
  const decidedBy: string[] = []
  const handlerOf = (kind: typeof seats) =>
    createCommandHandler({
      ...{ definition: twoKinds, log, now: () => new Date(0), timeoutMs: 1000, acknowledged: { follow() {} } },
      kind: {
        ...kind,
        stream: {
          ...kind.stream,
          decide: () => {
            decidedBy.push(kind.stream.collection)
            return 'unchanged'
          },
        },
      },
      readModel: { ...projection.readModel, whenApplied: async () => 'applied', reportDamage() {} },
      appender: { gathering: 0, append: () => Promise.reject(new Error('something is appended')) },
      ids: new IdAllocator(log, unseenBlocks(log)),
    })
  const about = { stream: { collection: 'bookings', id: 12 }, owner: 'owner', wait: { timeoutMs: 0 } }
  if (halls === undefined) throw new Error('there is one kind')
  const outcomes = [seats, halls].map(async (kind) => (await handlerOf(kind).handle(() => ({}), about)).outcome)
  expect(await Promise.all(outcomes)).toEqual(['unchanged', 'not_found'])
  expect(decidedBy).toEqual(['seats'])
})
