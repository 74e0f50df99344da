import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { petStreams } from '../../src/app/petstore.ts'
import { SettledEvents } from '../../src/event-feed/settled-events.ts'
import type { Counts } from '../../src/read-models/checkpoint.ts'
import { anyLog } from '../projector/any-log.ts'
import { openProjection, outcomesOf } from '../projector/projecting.ts'
import { type AnyRecord, discard, keyed, logOf, newerEvent, orderEvent, petCreated } from '../projector/records.ts'

/** What is said of each record once all are applied, and what the projector has counted. */
async function settle(records: readonly AnyRecord[]): Promise<{ outcomes: string[]; counts: Counts }> {
  const { store, apply, counts } = await openProjection()
  await apply(records)
  const settled = new SettledEvents({
    definition: petStreams,
    log: { partitionFor: () => 0, read: async () => ({ records: logOf(records), next: records.length }) },
    readModel: {
      load: async (query) => ({ ...(await store.reads.load('generation', query)), reached: [] }),
      whenApplied: async () => 'unheard',
    },
  })
  const { records: found } = await settled.read(0, 0, records.length)
  return { outcomes: found.map(({ outcome }) => outcome), counts: counts() }
}

describe('what became of each event', () => {
  it('is what the projector did with it, where nothing was discarded', async () => {
    const withoutDiscards = anyLog({ isSound: false }).map((log) =>
      log.filter(({ value }) => !value?.includes('EventDiscarded')),
    )
    await fc.assert(
      fc.asyncProperty(withoutDiscards, async (log) => {
        expect((await settle(log)).outcomes).toEqual(await outcomesOf(log))
      }),
      { numRuns: 100 },
    )
  })

  it('is what the projector did with it, or cannot be told behind a discard', async () => {
    await fc.assert(
      fc.asyncProperty(anyLog({ isSound: false }), async (log) => {
        const { outcomes, counts } = await settle(log)
        const count = (outcome: string) => outcomes.filter((each) => each === outcome).length
        expect([count('skipped'), count('parked')]).toEqual([counts.skipped, counts.parked])
        expect(count('applied')).toBe(counts.applied - counts.discarded) // each discard is counted as applied
        expect(count('duplicate')).toBeLessThanOrEqual(counts.duplicate)
        expect(count('duplicate') + count('unknown')).toBeGreaterThanOrEqual(counts.duplicate)
      }),
      { numRuns: 100 },
    )
  })

  it('is that it is parked under its key, and superseded once it is discarded', async () => {
    const parked = newerEvent('1', 2, { idempotencykey: 'a' })
    const records = [petCreated({ id: 1 }), parked, orderEvent('OrderPlaced', 1, 12, 3, keyed('a'))]
    expect((await settle(records)).outcomes).toEqual(['applied', 'parked', 'parked'])
    expect((await settle([...records, discard('1', 1)])).outcomes.slice(0, 2)).toEqual(['applied', 'superseded'])
  })
})
