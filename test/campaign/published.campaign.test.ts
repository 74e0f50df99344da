import { it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { expectToldOnceDiscarded } from '../e2e/published-waiting.ts'

const hourMs = 3_600_000

describeWithBrokers('what is published', (brokers) => {
  it('waits with 200,000 events behind a parked one, and is told once that is discarded', {
    timeout: hourMs,
  }, async () => {
    await expectToldOnceDiscarded(brokers, { streams: 1000, behind: 200_000, limitMs: hourMs })
  })
})
