import { expect, vi } from 'vitest'
import type { SharedBrokers } from '../brokers/global-setup.ts'
import { metric } from '../lib/http-client.ts'
import { Client, type Pet } from './client.ts'
import { byStream, historiesOf, idsOf, publishedOf } from './published-topic.ts'
import { brokerEnvironment, petstoreOutput, placeOf, startService, untilParked } from './service.ts'
import { petChanged, petCreated, produce, readTopic } from './topic.ts'

interface Waiting {
  readonly streams: number
  /** How many events wait in one of them. */
  readonly behind: number
  /** How long it may take until they are parked, and until they are told. */
  readonly limitMs: number
}

const atOnce = 1000
/** They wait for each: of events, and of documents. */
const publishers = 2

/** Many streams wait, and one of them with much behind its first parked event, which is told once that is discarded. */
export async function expectToldOnceDiscarded(
  brokers: SharedBrokers,
  { streams, behind, limitMs }: Waiting,
): Promise<void> {
  const environment = brokerEnvironment(brokers)
  const service = await startService(environment)
  const until = (name: string, count: number) =>
    vi.waitFor(async () => expect(await metric(service.url, `petstore_${name}`)).toBe(count), {
      timeout: limitMs,
      interval: 250,
    })
  const pets = Array.from({ length: streams }, (_, n) => petOf(n))
  const created = pets.flatMap((pet) => [
    petCreated({ eventId: `first ${pet.id}`, pet, streamversion: 1 }),
    petCreated({ eventId: `usurper ${pet.id}`, pet, streamversion: 2 }),
  ])
  for (let at = 0; at < created.length; at += atOnce) await produce(environment, created.slice(at, at + atOnce))
  const parked = await untilParked(environment, streams)
  const long = petOf(0)
  for (let at = 0; at < behind; at += atOnce) {
    const count = Math.min(atOnce, behind - at)
    const changes = Array.from({ length: count }, (_, n) =>
      petChanged({ pet: { ...long, name: `name ${at + n}` }, streamversion: at + n + 3 }),
    )
    await produce(environment, changes)
  }
  await until('parked_events', streams + behind)
  await until('published_waiting_streams', publishers * streams)
  await until('published_lag_events', 0)

  const first = parked.find(({ stream }) => stream === String(long.id))
  if (first === undefined) throw new Error('it is not parked')
  await petstoreOutput(environment, 'parked', 'discard', placeOf(first), '--yes')
  await until('parked_events', streams - 1)
  await until('published_waiting_streams', publishers * (streams - 1))
  const histories = await historiesOf(new Client(service), idsOf(pets))
  expect(histories[long.id]).toHaveLength(1 + behind)
  expect(byStream(await readTopic(publishedOf(environment)))).toEqual(histories)
}

export function petOf(n: number): Pet {
  return { id: 6_000_000 + n, name: `pet ${n}`, categoryId: 1, status: 'available' }
}
