import { expect, vi } from 'vitest'
import { type Client, expectExactly, inParallel, type Pet, statuses } from './client.ts'
import { expectVerified } from './petstore.ts'
import type { brokerEnvironment } from './service-process.ts'
import { petsIn, readEvents } from './topic.ts'

const patience = { timeout: 60_000, interval: 100 }

export function createMany(client: Client, count: number): Promise<Pet[]> {
  return inParallel(count, 8, (i) => client.create(`pet ${i}`, statuses[i % 3]))
}

export async function untilListed(client: Client, pets: readonly Pet[]): Promise<void> {
  await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toHaveLength(pets.length), patience)
  await expectExactly(client, pets)
}

/** The pets are those of the log, which are these, and everything in the read models is what the log says. */
export async function expectLogServed(
  environment: ReturnType<typeof brokerEnvironment>,
  client: Client,
  pets: readonly Pet[],
): Promise<void> {
  const stored = petsIn(await readEvents(environment.KAFKA_BROKERS, environment.KAFKA_TOPIC))
  expect(stored).toEqual([...pets].sort((one, other) => one.id - other.id))
  await untilListed(client, stored)
  await expectVerified(environment)
}
