import type { Warning } from '../../lib/operating/warning.ts'
import {
  assignments,
  type FoundTopic,
  type FoundTopics,
  flushedAtOnce,
  inSyncWanted,
  keptForEver,
  replicasForInSync,
} from './kafka-topics.ts'
import { foreignMax } from './noted-events.ts'

export const orNewLog = 'or set KAFKA_TOPIC to another name for a new log.'

/** Settings that make the log incomplete, or could: a start is refused. What no setting can restore comes first. */
export function incompleteness(found: FoundTopics): readonly Warning[] {
  const topics = [found.events, found.idBlocks]
  return [...topics.flatMap(recordsDeleted), ...topics.flatMap(recordsDeletable)]
}

/** The number of partitions differs from the original one: records with the same key could be in two of them. */
export function partitionsChanged({ events, idBlocks }: FoundTopics, partitions: number): readonly Warning[] {
  const code = 'partitions_changed'
  const ofEvents = {
    code,
    message:
      `${otherPartitions(events.name, events.partitions, partitions)} This process continues with ${partitions}, ` +
      `but the next start is refused, and what other producers write by key may be skipped. ${copyInstead(partitions)}`,
  }
  const ofIdBlocks = {
    code,
    message: `${otherPartitions(idBlocks.name, idBlocks.partitions, 1)} The next start is refused. ${copyInstead(1)}`,
  }
  return [...(events.partitions === partitions ? [] : [ofEvents]), ...(idBlocks.partitions === 1 ? [] : [ofIdBlocks])]
}

/** Records of something else at the end of the id blocks: undefined if there are too many for a start. */
export function foreignRecords(idBlocks: string, foreign: number | undefined): readonly Warning[] {
  if (foreign === 0) return []
  const isRefused = foreign === undefined
  const message =
    `Topic ${idBlocks} ends in ${foreign ?? `more than ${foreignMax}`} records that are not of this log, and that are ` +
    `ignored${isRefused ? '. The next start is refused' : ''}: find out what writes to it, and take away its right.`
  return [{ code: 'foreign_id_blocks', message }]
}

/** What an operator can make safer while the service runs. */
export function weaknesses({ replicasWanted, events, idBlocks }: FoundTopics): readonly Warning[] {
  const ofBoth = [events, idBlocks].flatMap((topic) => [
    ...tooFewReplicas(topic, replicasWanted),
    ...wrongInSync(topic),
  ])
  return [...ofBoth, ...notFlushed(idBlocks)]
}

export function otherPartitions(name: string, found: number, madeWith: number): string {
  return (
    `Topic ${name} has ${found} partitions, but was created with ${madeWith}: keys would move between partitions, ` +
    'and Kafka cannot remove partitions.'
  )
}

/** The only remedy then. */
export function copyInstead(partitions: number): string {
  const which = partitions === 1 ? 'partition 0' : `partitions 0 to ${partitions - 1}`
  return `Stop all writers and copy ${which} to another topic, as the command runbook says under 'Warnings about the topics', ${orNewLog}`
}

function recordsDeleted({ name, firsts }: FoundTopic): readonly Warning[] {
  const partition = firsts.findIndex((first) => first > 0)
  if (partition === -1) return []
  const message =
    `Partition ${partition} of topic ${name} begins at offset ${firsts[partition]}: the earlier records were deleted, ` +
    `and no setting restores them. Restore the topic from a backup, ${orNewLog}`
  return [{ code: 'records_were_deleted', message }]
}

function recordsDeletable(topic: FoundTopic): readonly Warning[] {
  const { name, settings } = topic
  const wrong = Object.entries(keptForEver).filter(([setting, wanted]) => settings.get(setting) !== wanted)
  if (wrong.length === 0) return []
  const found = wrong.map(([setting]) => `${setting}=${settings.get(setting)}`).join(' and ')
  const compacted = settings.get('cleanup.policy')?.includes('compact')
  const message =
    `Topic ${name} has ${found}, so Kafka would delete events, which must be kept forever. Run ` +
    alterCommand(topic, Object.fromEntries(wrong)) +
    (compacted ? ' and then run the command verify: compaction removes records without a trace.' : '')
  return [{ code: 'records_can_be_deleted', message }]
}

function tooFewReplicas({ name, replicas, servers }: FoundTopic, wanted: number): readonly Warning[] {
  if (replicas >= wanted) return []
  const message =
    `Topic ${name} has ${replicas} of ${wanted} replicas: the loss of ${replicas === 1 ? 'one broker' : 'so many brokers'} ` +
    `loses the log. Give it ${wanted} with kafka-reassign-partitions.sh --bootstrap-server ${servers}, as the command ` +
    "runbook says under 'Warnings about the topics', or set KAFKA_REPLICATION_FACTOR to what you want."
  return [{ code: 'too_few_replicas', message }]
}

function wrongInSync(topic: FoundTopic): readonly Warning[] {
  const { name, replicas, settings } = topic
  const code = 'wrong_min_insync_replicas'
  const setting = 'min.insync.replicas'
  const found = Number(settings.get(setting))
  if (found > replicas) {
    const command = alterCommand(topic, replicas >= replicasForInSync ? inSyncWanted : { [setting]: '1' })
    const message = `Topic ${name} has ${setting}=${found}, but ${replicas} replicas: no write can succeed. Run ${command}`
    return [{ code, message }]
  }
  if (replicas < replicasForInSync || found >= Number(inSyncWanted[setting])) return []
  const command = alterCommand(topic, inSyncWanted)
  const message = `Topic ${name} has ${setting}=${found}, so a single broker could acknowledge records and then lose them. Run ${command}`
  return [{ code, message }]
}

function notFlushed(topic: FoundTopic): readonly Warning[] {
  const { name, settings } = topic
  const setting = 'flush.messages'
  if (settings.get(setting) === flushedAtOnce[setting]) return []
  const message =
    `Topic ${name} has ${setting}=${settings.get(setting)}, so a power failure could lose acknowledged records. Run ` +
    alterCommand(topic, flushedAtOnce)
  return [{ code: 'id_blocks_not_flushed', message }]
}

function alterCommand({ name, servers }: FoundTopic, settings: Readonly<Record<string, string>>): string {
  return (
    `kafka-configs.sh --bootstrap-server ${servers} --alter --entity-type topics --entity-name ${name} ` +
    `--add-config ${assignments(settings)}`
  )
}
