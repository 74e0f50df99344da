import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { ITopicConfig } from 'kafkajs'
import type { KafkaCluster } from '../../brokers/clusters.ts'
import { until, within } from '../../brokers/ready.ts'
import { type Answer, HttpClient } from '../../lib/http-client.ts'
import type { Random } from '../../lib/random.ts'
import type { Served } from '../served.ts'
import { apiKey, type CampaignContext } from '../system/scenario.ts'
import type { Supervised } from '../system/supervised.ts'
import { asAdmin } from '../system/topic-admin.ts'
import type { Fault, Occasion } from './fault.ts'
import { untilInSync } from './kafka-faults.ts'

const waitMs = 30_000
/** A process may stand still for twelve seconds meanwhile. */
const refusedMs = 60_000
/** As long as projectors may stand still, and keep their partitions. */
const refilledMs = 5000

export interface LossyLog {
  readonly served: Served
  readonly cluster: KafkaCluster
  readonly folderOf: (id: number) => string
  readonly topic: string
  readonly apis: readonly Supervised[]
  readonly services: readonly Supervised[]
  readonly projectors: readonly Supervised[]
  readonly context: CampaignContext
}

/** The ids are on broker 3 alone. */
export async function makeLossyTopics(cluster: KafkaCluster, topic: string): Promise<void> {
  await makeLossyEvents(cluster, topic)
  const ids = [...kept, { name: 'flush.messages', value: '1' }]
  const replicaAssignment = [{ partition: 0, replicas: [3] }]
  await makeTopic(cluster, { topic: `${topic}.id-blocks`, replicaAssignment, configEntries: ids })
}

/** On brokers 1 and 2, of which either may lead with whatever it has. */
async function makeLossyEvents(cluster: KafkaCluster, topic: string): Promise<void> {
  const unsafe = [
    { name: 'unclean.leader.election.enable', value: 'true' },
    { name: 'min.insync.replicas', value: '1' },
  ]
  const replicaAssignment = Array.from({ length: 6 }, (_, partition) => ({ partition, replicas: [1, 2] }))
  await makeTopic(cluster, { topic, replicaAssignment, configEntries: [...kept, ...unsafe] })
  await until('both replicas are in sync', waitMs, async () => (await inSync(cluster, topic)).join() === '1,2')
}

const kept = [
  { name: 'retention.ms', value: '-1' },
  { name: 'retention.bytes', value: '-1' },
  // or Kafka would refuse records of a process whose clock is an hour ahead
  { name: 'message.timestamp.type', value: 'LogAppendTime' },
]

/** kafkajs would ask a broker that may not know the topic yet for its leaders, and throw. */
async function makeTopic({ brokers }: KafkaCluster, topic: ITopicConfig): Promise<void> {
  await asAdmin(brokers, (admin) => admin.createTopics({ waitForLeaders: false, topics: [topic] }))
}

/** Faults by which records are lost that were acknowledged. */
export function lossFaults(log: LossyLog): Fault[] {
  return [
    {
      kind: 'unclean election: the new leader lacks the last records',
      inflict: (occasion) => electBehind(log, occasion),
    },
    { kind: 'the tails of the log are truncated', inflict: ({ random }) => truncateTails(log, random) },
    { kind: 'the last block of ids is forgotten', inflict: ({ random }) => forgetBlock(log, random) },
    { kind: 'the topic of the events is made anew', inflict: () => makeAnew(log) },
  ]
}

/**
 * The follower stands still, so that it lacks the last records, and then is the only one. Projectors that stand still
 * meanwhile find others in the place of those that they know.
 */
async function electBehind(log: LossyLog, { last }: Occasion): Promise<boolean> {
  const { cluster, topic, context, projectors } = log
  const [leader, follower] = cluster.nodes
  await context.beforeLoss()
  await follower?.pause()
  await until('the follower is out of sync', waitMs, async () => (await inSync(cluster, topic)).join() === '1')
  await last(500, 1500)
  const before = await endsOf(cluster, topic)
  await Promise.all(projectors.map((projector) => projector.pause()))
  try {
    await leader?.kill()
    await follower?.resume()
    await within(refilledMs, async () => isBeyond(before, await endsOf(cluster, topic)))
  } finally {
    for (const projector of projectors) projector.resume()
  }
  await until('the follower leads', waitMs, async () => (await inSync(cluster, topic)).join() === '2')
  await leader?.start()
  await untilInSync({ ...cluster, topics: [topic] })
  await context.afterLoss()
  return true
}

/** Some bytes less, in the files of both replicas. */
async function truncateTails({ cluster, folderOf, topic, context }: LossyLog, random: Random): Promise<boolean> {
  const replicas = cluster.nodes.slice(0, 2)
  await context.beforeLoss()
  await Promise.all(replicas.map((node) => node.kill()))
  for (let partition = 0; partition < 6; partition++) {
    const files = [1, 2].map((id) => segmentOf(folderOf(id), `${topic}-${partition}`))
    const shortest = Math.min(...files.map((file) => statSync(file).size))
    const kept = Math.max(0, shortest - random.below(3000))
    for (const file of files) truncateSync(file, kept)
  }
  await Promise.all(replicas.map((node) => node.start()))
  await untilInSync({ ...cluster, topics: [topic] })
  await context.afterLoss()
  return true
}

/** The process that has it ends, and reserves it again. Both times the first of its ids go to orders, or to loans. */
async function forgetBlock(
  { served, cluster, folderOf, topic, apis, context }: LossyLog,
  random: Random,
): Promise<boolean> {
  const api = random.pick(apis)
  const broker = cluster.nodes[2]
  await context.whileOthersRead(async () => {
    await api.end('SIGTERM')
    await takeEach(served, api)
    await context.beforeLoss()
    const { instance } = api
    await broker?.kill()
    const file = segmentOf(folderOf(3), `${topic}.id-blocks-0`)
    truncateSync(file, statSync(file).size - 1) // what is left of the last record counts for nothing
    await broker?.start()
    await untilInSync({ ...cluster, topics: [`${topic}.id-blocks`] })
    await within(waitMs, async () => api.instance !== instance)
    await takeEach(served, api)
  })
  await context.afterLoss()
  return true
}

/**
 * While processes write. Those that knew events of it end, and none starts again on what has come in their place, until
 * an operator begins a new log.
 */
async function makeAnew({ cluster, topic, services, context }: LossyLog): Promise<boolean> {
  await context.beforeLoss()
  const before = services.map(({ ownEnds }) => ownEnds)
  await deleteTopics(cluster, topic)
  await makeLossyEvents(cluster, topic)
  const isRefused = ({ ownEnds, lastWords }: Supervised, i: number) =>
    ownEnds !== before[i] && lastWords.includes('the events are gone')
  await within(refusedMs, async () => services.every(isRefused))
  for (const [i, each] of services.entries()) {
    if (!isRefused(each, i)) context.wrong(`${each.instance} takes another log for its own: ${each.lastWords}`)
  }
  // Whichever service starts in between would make the missing topics itself, where and as it sees fit.
  const releases = await Promise.all(services.map((each) => each.hold()))
  try {
    await deleteTopics(cluster, topic, `${topic}.id-blocks`)
    await makeLossyTopics(cluster, topic)
  } finally {
    for (const release of releases) release()
  }
  await context.afterLoss()
  return true
}

async function deleteTopics({ brokers }: KafkaCluster, ...topics: string[]): Promise<void> {
  await asAdmin(brokers, (admin) => admin.deleteTopics({ topics }))
  await until('the topics are gone', waitMs, async () => {
    const left = await asAdmin(brokers, (admin) => admin.listTopics()).catch(() => topics)
    return !topics.some((topic) => left.includes(topic))
  })
}

/** Each that it shows as free, for a moment. */
async function takeEach({ taking }: Served, api: Supervised): Promise<void> {
  const client = new HttpClient(api, apiKey)
  let answer: Answer | undefined
  await within(waitMs, async () => {
    answer = await client.request(taking.free).catch(() => undefined)
    return answer?.status === 200
  })
  const free = answer?.status === 200 ? (answer.body as readonly Identified[]) : []
  const each = free.map(async ({ id }) => {
    const { status, body } = await client.send('POST', taking.path, taking.body(id))
    if (status === 201) await client.send('PATCH', `${taking.path}/${(body as Identified).id}`, taking.end)
  })
  await Promise.allSettled(each) // with other faults some are refused, or not answered
}

interface Identified {
  readonly id: number
}

function segmentOf(folder: string, partition: string): string {
  const files = join(folder, 'data', partition)
  const [first = ''] = readdirSync(files).filter((name) => name.endsWith('.log'))
  return join(files, first)
}

/** How many records each partition has; none where nobody answers. */
async function endsOf({ brokers }: KafkaCluster, topic: string): Promise<number[]> {
  const ends = await asAdmin(brokers, (admin) => admin.fetchTopicOffsets(topic)).catch(() => [])
  return ends.toSorted((one, other) => one.partition - other.partition).map(({ high }) => Number(high))
}

function isBeyond(before: readonly number[], ends: readonly number[]): boolean {
  return ends.length > 0 && ends.every((end, at) => end > (before[at] ?? 0))
}

/** The brokers that have all of some partition; none where nobody answers. */
export async function inSync({ brokers }: KafkaCluster, topic: string): Promise<number[]> {
  const isr = await asAdmin(brokers, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    return topics.flatMap(({ partitions }) => partitions.flatMap((partition) => partition.isr))
  }).catch(() => [])
  return [...new Set(isr)].sort()
}
