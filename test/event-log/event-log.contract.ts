import { afterEach, beforeEach, describe } from 'vitest'
import { appending } from './contract/appending.ts'
import { closing } from './contract/closing.ts'
import type { EventLogFixture } from './contract/fixture.ts'
import { seeking } from './contract/seeking.ts'
import { subscribing } from './contract/subscribing.ts'

/**
 * Every sentence of the port, on one adapter. Not asserted here: what happens when the log fails, which each adapter's
 * own test provokes, and that an append settles within its limit.
 */
export function eventLogContract(adapter: string, openFixture: () => Promise<EventLogFixture>): void {
  describe(`${adapter} keeps the event log contract`, () => {
    let fixture: EventLogFixture
    beforeEach(async () => {
      fixture = await openFixture()
    })
    afterEach(() => fixture.remove())

    const underTest = {
      get fixture() {
        return fixture
      },
      get log() {
        return fixture.log
      },
      openFixture,
    }
    for (const topic of [appending, subscribing, seeking, closing]) topic(underTest)
  })
}
