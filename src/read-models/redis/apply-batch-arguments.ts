import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { eventTagLength } from '../event-tag.ts'
import { encodeDecision } from '../key-decision.ts'
import type { Batch, Insert, ParkedEvent } from '../read-models.ts'
import { progressMessage } from './progress-message.ts'
import { addedField, type GenerationKeys, type RedisKeys } from './redis-keys.ts'
import { encodeParkedEvent, parkedField } from './stored-parked-event.ts'

/** The counter and the arguments that `apply-batch.lua` takes for one key, or for what to remove from one. */
interface Section {
  readonly counter: string
  readonly args: readonly string[]
}
interface KeySection extends Section {
  readonly key: string
}

/** KEYS and ARGV of `apply-batch.lua`: already grouped by key, so that the script only passes slices on. */
export function applyBatchArguments(
  storeKeys: RedisKeys,
  generation: string,
  { partition, expected, checkpoint, inserts, parked, unparked, freed, decisions }: Batch,
): { keys: string[]; args: string[] } {
  const keys = storeKeys.generation(generation)
  const [documents, counters, indexes] = insertSections(keys, inserts)
  const decided = decisions.flatMap((decision) => [decision.key, encodeDecision(decision)])
  const written = [
    documents,
    { key: keys.decisions, counter: '', args: decided },
    ...parkedSections(keys, partition, parked),
    counters,
    ...indexes,
  ]
  const removed = [
    { counter: '', args: unparked.map((offset) => parkedField(partition, offset)) },
    { counter: '', args: freed.map((subject) => `${partition}/${subject}`) },
  ]
  const at = { partition, next: checkpoint.next, parked: parked.map(({ offset }) => offset) }
  return {
    keys: [storeKeys.active, storeKeys.building, keys.checkpoints, ...written.map(({ key }) => key)],
    args: [
      generation,
      String(partition),
      storedText(expected),
      encodeCheckpoint(checkpoint),
      storeKeys.progress,
      progressMessage(generation, at),
      String(eventTagLength),
      ...[...written, ...removed].flatMap(({ counter, args }) => [counter, String(args.length), ...args]),
    ],
  }
}

function insertSections(
  keys: GenerationKeys,
  inserts: readonly Insert[],
): [documents: KeySection, counters: KeySection, indexes: KeySection[]] {
  const inOrder = inserts.toSorted((a, b) => a.id - b.id)
  const documents: string[] = []
  const indexes = new Map<string, string[]>()
  const counters = new Map<string, number>()
  for (const { id, document, tag, indexes: names, counters: counted } of inOrder) {
    if (tag.length !== eventTagLength) throw new RangeError(`a tag of ${tag.length} characters`)
    const score = String(id)
    documents.push(score, document + tag)
    for (const name of names) {
      const members = indexes.get(name)
      if (members === undefined) indexes.set(name, [score, document])
      else members.push(score, document)
    }
    for (const name of counted) counters.set(name, (counters.get(name) ?? 0) + 1)
  }
  return [
    { key: keys.documents, counter: addedField(undefined), args: documents },
    { key: keys.counters, counter: '', args: [...counters].flatMap(([name, count]) => [name, String(count)]) },
    [...indexes].map(([name, args]) => ({ key: keys.index(name), counter: addedField(name), args })),
  ]
}

function parkedSections(keys: GenerationKeys, partition: number, parked: readonly ParkedEvent[]): KeySection[] {
  const events = parked.flatMap((event) => [parkedField(partition, event.offset), encodeParkedEvent(event)])
  const offsets = parked.flatMap(({ subject, offset }) => ['0', `${partition}/${subject}/${offset}`])
  const subjects = parked.flatMap(({ subject }) => ['0', `${partition}/${subject}`])
  return [
    { key: keys.parked, counter: '', args: events },
    { key: keys.parkedOffsets, counter: '', args: offsets },
    { key: keys.parkedSubjects, counter: '', args: subjects },
  ]
}

const start = encodeCheckpoint(startOfPartition)

function storedText(checkpoint: Checkpoint): string {
  const text = encodeCheckpoint(checkpoint)
  return text === start ? '' : text
}
