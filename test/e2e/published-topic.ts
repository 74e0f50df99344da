import { expect, vi } from 'vitest'
import { asAdmin, type TopicRecord } from '../brokers/topics.ts'
import { type Client, inParallel, type Pet } from './client.ts'
import type { ServiceProcess } from './service.ts'
import { readTopic, type Topic } from './topic.ts'

/** How long it may take on a busy machine until something is published. */
export const patience = { timeout: 60_000, interval: 250 }

export const idsOf = (pets: readonly Pick<Pet, 'id'>[]) => pets.map(({ id }) => id)

/** The topic of the published events. */
export function publishedOf(topic: Topic): Topic {
  return { ...topic, KAFKA_TOPIC: `${topic.KAFKA_TOPIC}.published` }
}

/** The topic of the documents of a collection. */
export function documentsOf(topic: Topic, collection: string): Topic {
  return { ...topic, KAFKA_TOPIC: `${topic.KAFKA_TOPIC}.documents.${collection}` }
}

/** The topic of how far the publishers are. */
export function positionsOf(topic: Topic): Topic {
  return { ...topic, KAFKA_TOPIC: `${topic.KAFKA_TOPIC}.positions` }
}

/** Whoever publishes makes them again at once. */
export async function deleteBesideService(...topics: readonly Topic[]): Promise<void> {
  const names = topics.map(({ KAFKA_TOPIC }) => KAFKA_TOPIC)
  await asAdmin(topics[0]?.KAFKA_BROKERS ?? '', (admin) => admin.deleteTopics({ topics: names }))
}

type Told = Record<string, readonly object[]>

/** The published events of each stream, as a `read_committed` consumer gets them. */
export function byStream(records: readonly TopicRecord[]): Told {
  const streams = Map.groupBy(records, ({ key }) => String(key))
  const told = [...streams].map(([stream, of]) => [stream, of.map(({ value }) => JSON.parse(String(value)))])
  return Object.fromEntries(told)
}

/** What the API tells of these streams: all that took effect, in order of version. */
export async function historiesOf(client: Client, streams: readonly (number | string)[]): Promise<Told> {
  const histories = await inParallel(streams.length, 16, async (index) => {
    const stream = String(streams[index])
    const pages = await Array.fromAsync(client.pages<object>(`/v1/pets/${stream}/events?limit=100`))
    return [stream, pages.flatMap(({ documents }) => documents)] as const
  })
  return Object.fromEntries(histories)
}

/** What is published becomes this, and no more. */
export async function expectTold(topic: Topic, wanted: () => Promise<Told>): Promise<void> {
  const told = async () => byStream(await readTopic(publishedOf(topic)))
  await vi.waitFor(async () => expect(await told()).toEqual(await wanted()), patience)
}

/** What is published becomes exactly the histories of these streams, once, in order, and no more. */
export async function expectPublished(
  topic: Topic,
  client: Client,
  streams: readonly (number | string)[],
): Promise<void> {
  await expectTold(topic, () => historiesOf(client, streams))
}

/** As `expectPublished`, of the pets that the API lists, whoever added them. */
export async function expectAllPublished(topic: Topic, client: Client): Promise<void> {
  await expectTold(topic, async () => historiesOf(client, idsOf(await client.list())))
}

interface PublishingCheck {
  readonly status: 'up' | 'waiting'
  readonly publishers: readonly {
    readonly failure?: string
    readonly lanes: readonly number[]
    readonly still: readonly { readonly lane: number; readonly reason: string }[]
    readonly warnings?: readonly { readonly code: string; readonly message: string }[]
  }[]
}

/** What a process says of the publishing in `/readyz`. */
export async function publishingOf({ url }: Pick<ServiceProcess, 'url'>): Promise<PublishingCheck> {
  const answer = await fetch(`${url}/readyz`)
  const { checks } = (await answer.json()) as { checks: { publishing: PublishingCheck } }
  return checks.publishing
}

/** How many lanes of each publisher a process has that are told. */
async function lanesOf(service: Pick<ServiceProcess, 'url'>): Promise<number[]> {
  const { publishers } = await publishingOf(service)
  return publishers.map(({ lanes, still }) => lanes.length - still.length)
}

/** The process publishes the three lanes that events have, and those of documents. */
export async function untilPublishing(service: Pick<ServiceProcess, 'url'>): Promise<void> {
  await vi.waitFor(async () => expect(await lanesOf(service)).toEqual([3, 3]), patience)
}

/** No lane of the process is told. */
export async function untilFailing(service: Pick<ServiceProcess, 'url'>): Promise<void> {
  await vi.waitFor(async () => expect(await lanesOf(service)).toEqual([0, 0]), patience)
}

/** The process says why something is not published, and that it is in nobody's way. */
export async function untilStandsStill(service: Pick<ServiceProcess, 'url'>, reason: RegExp): Promise<void> {
  await vi.waitFor(async () => {
    const { publishers } = await publishingOf(service)
    const reasons = publishers.flatMap(({ failure = '', still }) => [failure, ...still.map((each) => each.reason)])
    expect(reasons.join('\n')).toMatch(reason)
  }, patience)
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
}

/** Once warnings of this code, and of no other, are in `/readyz`, and counted in the metrics: what each publisher says. */
export async function untilWarned(service: { readonly url: string }, code: string): Promise<string> {
  return await vi.waitFor(async () => {
    const warnings = (await publishingOf(service)).publishers.flatMap((publisher) => publisher.warnings ?? [])
    expect(new Set(warnings.map((warning) => warning.code))).toEqual(new Set([code]))
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain(`petstore_warnings{part="publishing",code="${code}"} ${warnings.length}\n`)
    return warnings.map(({ message }) => message).join('\n')
  }, patience)
}
