import { expect, vi } from 'vitest'
import type { TopicRecord } from '../brokers/topics.ts'
import type { Client } from './client.ts'
import { readTopic, type Topic } from './topic.ts'

const patience = { timeout: 60_000, interval: 250 }

/** The topic of the published events. */
export function publishedOf(topic: Topic): Topic {
  return { ...topic, KAFKA_TOPIC: `${topic.KAFKA_TOPIC}.published` }
}

/** Resolves once a process has all lanes, and something is published in each. */
export async function untilPublishing({ url }: { readonly url: string }): Promise<void> {
  await vi.waitFor(async () => {
    const { checks } = (await (await fetch(`${url}/readyz`)).json()) as { checks: { publishing?: unknown } }
    expect(checks.publishing).toMatchObject({ status: 'up', publishers: [{ lanes: [0, 1, 2] }] })
  }, patience)
}

type Told = Record<string, readonly object[]>

/** The published events of each stream, as a `read_committed` consumer gets them. */
export function byStream(records: readonly TopicRecord[]): Told {
  const streams = Map.groupBy(records, ({ key }) => String(key))
  const told = [...streams].map(([stream, of]) => [stream, of.map(({ value }) => JSON.parse(String(value)))])
  return Object.fromEntries(told)
}

/** What the API tells of these streams: all that took effect, in order of version. */
async function historiesOf(client: Client, streams: readonly (number | string)[]): Promise<Told> {
  const histories = streams.map(async (stream) => {
    const pages = await Array.fromAsync(client.pages<object>(`/v1/pets/${stream}/events?limit=100`))
    return [stream, pages.flatMap(({ documents }) => documents)] as const
  })
  return Object.fromEntries(await Promise.all(histories))
}

/** What is published becomes exactly the histories of these streams, once, in order, and no more. */
export async function expectPublished(
  topic: Topic,
  client: Client,
  streams: readonly (number | string)[],
): Promise<void> {
  const wanted = await historiesOf(client, streams)
  await vi.waitFor(async () => expect(byStream(await readTopic(publishedOf(topic)))).toEqual(wanted), patience)
}
