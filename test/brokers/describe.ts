import { describe, expect, inject, it } from 'vitest'
import { howToGetBrokers } from './brokers.ts'
import type { SharedBrokers } from './global-setup.ts'

/** A suite on the shared Kafka and Redis. Without them it is skipped; with CI set it fails. */
export function describeWithBrokers(name: string, suite: (brokers: SharedBrokers) => void): void {
  const brokers = inject('brokers')
  if (brokers) describe(name, () => suite(brokers))
  else describeWithout(name)
}

/** A suite that starts, kills and pauses brokers of its own. They are also absent where only shared ones are given. */
export function describeWithOwnBrokers(name: string, suite: () => void): void {
  if (inject('ownBrokers') !== 'none') describe(name, suite)
  else describeWithout(name)
}

/** A suite on brokers that are local processes, also where others run in containers: a cluster of Kafka. */
export function describeWithLocalBrokers(name: string, suite: () => void): void {
  if (inject('localBrokers')) describe(name, suite)
  else describeWithout(name, 'install redis-server, Java 17 and Maven')
}

function describeWithout(name: string, remedy = howToGetBrokers): void {
  describe(name, () => {
    it.skipIf(!process.env.CI)(`needs brokers: ${remedy}`, () => {
      expect.fail('CI is set: nothing may be skipped')
    })
  })
}
