import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Counts } from '../../../src/engine/read-models/stored-texts.ts'
import { SettledEvents } from '../../../src/engine/rule/settled-events.ts'
import { anyLog } from '../projector/any-log.ts'
import { openProjection, outcomesOf } from '../projector/projecting.ts'
import { type AnyRecord, bookingEvent, discard, keyed, newerEvent, seatAdded } from '../projector/records.ts'
import { theatre } from '../theatre/theatre.ts'

/** What is said of each record once all are applied, and what the projector has counted. */
async function settle(records: readonly AnyRecord[]): Promise<{ outcomes: string[]; counts: Counts }> {
  const { log, readModel, apply, counts } = await openProjection()
  await apply(records)
  const whenApplied = async () => 'unheard' as const
  const settled = new SettledEvents({ definition: theatre, log, readModel: { ...readModel, whenApplied } })
  const { records: found } = await settled.read(0, 0, records.length)
  return { outcomes: found.map(({ outcome }) => outcome), counts: counts() }
}

describe('what became of each event', () => {
  it('is what the projector did with it', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog({ isSound: false }), async (log) => {
        const { outcomes, counts } = await settle(log)
        const count = (outcome: string) => outcomes.filter((each) => each === outcome).length
        // Each discard that had an effect is counted as applied, any other one as superseded.
        const { applied, superseded, ...others } = counts
        const effective = count('discarded')
        const discards = count('discarding')
        expect({ ...others, applied: applied - effective, superseded: superseded - (discards - effective) }).toEqual({
          ...{ applied: count('applied'), superseded: count('superseded'), duplicate: count('duplicate') },
          ...{ parked: count('parked'), discarded: effective, skipped: count('skipped') },
        })
        const withoutDiscards = log.filter(({ value }) => !value?.includes('EventDiscarded'))
        expect((await settle(withoutDiscards)).outcomes).toEqual(await outcomesOf(withoutDiscards))
      }),
      { numRuns: 100 },
    )
  })

  it('is that it is parked under its key, and discarded once it is', async () => {
    const parked = newerEvent('1', 2, { idempotencykey: 'a' })
    const records = [seatAdded({ id: 1 }), parked, bookingEvent('BookingPlaced', 1, 12, 3, keyed('a'))]
    expect((await settle(records)).outcomes).toEqual(['applied', 'parked', 'parked'])
    const discarded = ['applied', 'discarded', 'duplicate', 'discarding']
    expect((await settle([...records, discard('1', 1)])).outcomes).toEqual(discarded)
  })
})
