import kafkajs, { type Admin } from 'kafkajs'
import type { Warning } from '../../../lib/operating/warning.ts'
import { type PublisherName, StandsStill } from '../../published-log.ts'
import { assignments, eventsSettings, flushedAtOnce, inSyncWanted, replicasForInSync } from '../kafka-topics.ts'

// Node does not detect this name in the CommonJS module.
const { ConfigResourceTypes, ConfigSource } = kafkajs

/** The publishers, in the order of their partitions of the positions: each has one for each of its lanes. */
export const publishers: readonly PublisherName[] = ['events', 'documents']

/** A publisher of a journal. */
export interface PublisherOf {
  /** The topic of the journal. */
  readonly topic: string
  readonly publisher: PublisherName
  /** What it tells in, as `ToldRecord` names it. */
  readonly targets: readonly string[]
}

export function targetOf(journal: string, target: string): string {
  return `${journal}.${target}`
}

/** The topics that consumers read. */
export function toldTopics({ topic, targets }: PublisherOf): readonly string[] {
  return targets.map((target) => targetOf(topic, target))
}

export function positionsOf(journal: string): string {
  return `${journal}.positions`
}

/** Its partition of the positions. */
export function positionOf({ publisher }: PublisherOf, lane: number, lanes: number): number {
  return publishers.indexOf(publisher) * lanes + lane
}

/** Who is in it shares the lanes of the publisher. */
export function groupOf({ topic, publisher }: PublisherOf): string {
  return `${topic}.projector.publish-${publisher}`
}

export function transactionalIdOf({ topic, publisher }: PublisherOf, lane: number): string {
  return `${topic}.${publisher}-${lane}`
}

const lanesAtFirst = 3
/** The largest message: a document, in UTF-8, and what is beside it. */
const messageBytesMax = 2 * 1024 * 1024
/** How long a consumer may be away and still see that a document was removed. */
const tombstonesKeptMs = 7 * 24 * 3_600_000
const settings: Readonly<Record<PublisherName, Readonly<Record<string, string>>>> = {
  events: eventsSettings,
  documents: {
    'cleanup.policy': 'compact',
    'delete.retention.ms': String(tombstonesKeptMs),
    'max.message.bytes': String(messageBytesMax),
    'compression.type': 'producer',
    'message.timestamp.type': 'LogAppendTime',
  },
}
const positionsSettings = {
  'cleanup.policy': 'compact',
  ...flushedAtOnce,
  'segment.bytes': '1048576',
  'delete.retention.ms': '60000',
  'message.timestamp.type': 'LogAppendTime',
}

interface TopicToMake {
  readonly topic: string
  readonly partitions: number
  readonly settings: Readonly<Record<string, string>>
}

export interface PreparedTopics {
  readonly lanes: number
  readonly warnings: readonly Warning[]
}

/** Makes what is missing, and looks at what is there. Throws what `lookAtTopics` throws. */
export async function prepareTopics(admin: Admin, of: PublisherOf, servers: string): Promise<PreparedTopics> {
  const wanted = await topicsWanted(admin, of)
  await createTopics(admin, wanted, false)
  return await checkTopics(admin, wanted, servers)
}

/**
 * Looks at what is there. Throws StandsStill if somebody made a topic in another way: what is told there would be in the
 * wrong place, or be lost.
 */
export async function lookAtTopics(
  admin: Admin,
  of: PublisherOf,
  servers: string,
): Promise<PreparedTopics | { readonly missing: readonly string[] }> {
  const wanted = await topicsWanted(admin, of)
  if (wanted.missing.length > 0) return { missing: wanted.missing.map(({ topic }) => topic) }
  return await checkTopics(admin, wanted, servers)
}

/** Throws what making the missing topics would throw. */
export async function tryToMakeTopics(admin: Admin, of: PublisherOf): Promise<void> {
  await createTopics(admin, await topicsWanted(admin, of), true)
}

interface TopicsWanted {
  readonly publisher: PublisherName
  readonly told: readonly TopicToMake[]
  readonly positions: TopicToMake
  readonly missing: readonly TopicToMake[]
  /** As many as the journal has. */
  readonly replicas: number
}

async function topicsWanted(admin: Admin, of: PublisherOf): Promise<TopicsWanted> {
  const existing = await admin.listTopics()
  const journal = (await admin.fetchTopicMetadata({ topics: [of.topic] })).topics[0]?.partitions ?? []
  const told = toldTopics(of).map((topic) => ({ topic, partitions: journal.length, settings: settings[of.publisher] }))
  const count = publishers.length * lanesAtFirst
  const positions = { topic: positionsOf(of.topic), partitions: count, settings: positionsSettings }
  const missing = [...told, positions].filter(({ topic }) => !existing.includes(topic))
  const replicas = Math.min(...journal.map((partition) => partition.replicas.length))
  return { publisher: of.publisher, told, positions, missing, replicas }
}

async function checkTopics(
  admin: Admin,
  { publisher, told, positions, replicas }: TopicsWanted,
  servers: string,
): Promise<PreparedTopics> {
  const all = [...told, positions]
  const found = await findTopics(
    admin,
    all.map(({ topic }) => topic),
  )
  for (const { topic, partitions, settings } of told) check(found, topic, partitions, settings['cleanup.policy'])
  check(found, positions.topic, undefined, positionsSettings['cleanup.policy'])
  const kept = publisher === 'events' ? told : []
  return {
    lanes: found(positions.topic).partitions / publishers.length,
    warnings: [
      ...kept.flatMap(({ topic }) => retentionByDefault(found(topic), servers)),
      ...all.flatMap(({ topic }) => fewer(found(topic), replicas)),
    ],
  }
}

async function createTopics(admin: Admin, { missing, replicas }: TopicsWanted, validateOnly: boolean): Promise<void> {
  if (missing.length === 0) return
  const replication: Readonly<Record<string, string>> = replicas >= replicasForInSync ? inSyncWanted : {}
  const topics = missing.map(({ topic, partitions, settings }) => ({
    topic,
    numPartitions: partitions,
    replicationFactor: replicas,
    configEntries: Object.entries({ ...settings, ...replication }).map(([name, value]) => ({ name, value })),
  }))
  await admin.createTopics({ topics, validateOnly, waitForLeaders: !validateOnly }) // false where another process was first
}

interface FoundTopic {
  readonly name: string
  readonly partitions: number
  readonly replicas: number
  /** Values, and where they come from. */
  readonly settings: ReadonlyMap<string, { readonly value: string; readonly isDefault: boolean }>
}

async function findTopics(admin: Admin, names: readonly string[]): Promise<(name: string) => FoundTopic> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [...names] })
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: names.map((name) => ({
      type: ConfigResourceTypes.TOPIC,
      name,
      configNames: ['cleanup.policy', 'retention.ms'],
    })),
  })
  return (name) => {
    const partitions = topics.find((each) => each.name === name)?.partitions
    const entries = resources.find((each) => each.resourceName === name)?.configEntries
    if (partitions === undefined || entries === undefined) throw new Error(`Kafka does not describe topic ${name}`)
    const isDefault = ({ configSource }: { configSource: number }) => configSource !== ConfigSource.TOPIC_CONFIG
    return {
      name,
      partitions: partitions.length,
      replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      settings: new Map(
        entries.map((entry) => [entry.configName, { value: entry.configValue, isDefault: isDefault(entry) }]),
      ),
    }
  }
}

function check(
  found: (name: string) => FoundTopic,
  name: string,
  partitions: number | undefined,
  cleanup: string | undefined,
): void {
  const topic = found(name)
  const isWhole =
    partitions === undefined ? topic.partitions % publishers.length === 0 : topic.partitions === partitions
  const policy = topic.settings.get('cleanup.policy')?.value
  if (isWhole && policy === cleanup) return
  const wrong = isWhole
    ? `cleanup.policy=${policy} instead of ${cleanup}`
    : `${topic.partitions} partitions instead of ${partitions ?? 'an even number'}`
  throw new StandsStill(
    `Topic ${name} has ${wrong}, so somebody else made it. Delete it: the service makes it anew, and fills it.`,
  )
}

function retentionByDefault({ name, settings }: FoundTopic, servers: string): readonly Warning[] {
  const retention = settings.get('retention.ms')
  if (retention?.isDefault !== true) return []
  const message =
    `Topic ${name} has retention.ms=${retention.value} by the default of the brokers, so Kafka deletes published events. ` +
    `Run kafka-configs.sh --bootstrap-server ${servers} --alter --entity-type topics --entity-name ${name} ` +
    `--add-config ${assignments({ 'retention.ms': '-1' })}, or set there what you want.`
  return [{ code: 'published_can_be_deleted', message }]
}

function fewer({ name, replicas }: FoundTopic, wanted: number): readonly Warning[] {
  if (replicas >= wanted) return []
  const message = `Topic ${name} has ${replicas} replicas, and the event log has ${wanted}. Give it as many with kafka-reassign-partitions.sh.`
  return [{ code: 'published_has_fewer_replicas', message }]
}
