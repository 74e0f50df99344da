import { beforeEach, describe } from 'vitest'
import { appending } from './contract/appending.ts'
import { closing } from './contract/closing.ts'
import type { EventLogFixture, LogUnderTest } from './contract/fixture.ts'
import { reading } from './contract/reading.ts'
import { subscribing } from './contract/subscribing.ts'

/**
 * Every sentence of the port, on one adapter. Not asserted here: what happens when the log fails, which each adapter's
 * own test provokes, and that an append settles within its limit.
 */
export function eventLogContract(adapter: string, openFixture: () => Promise<EventLogFixture>): void {
  describe(`${adapter} keeps the event log contract`, () => {
    const at = { openFixture } as LogUnderTest
    beforeEach(async () => void Object.assign(at, await openFixture()))
    for (const topic of [appending, reading, subscribing, closing]) topic(at)
  })
}
