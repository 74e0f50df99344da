import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { eventTagLength } from '../event-tag.ts'
import { encodeDecision } from '../key-decision.ts'
import type { Batch } from '../read-models.ts'
import { addedField, progressMessage, type RedisKeys } from './redis-keys.ts'

/** What one key gets: the counter and the arguments that `apply-batch.lua` takes for it. */
interface Section {
  readonly key: string
  readonly counter: string
  readonly args: string[]
}

/** KEYS and ARGV of `apply-batch.lua`: already grouped by key, so that the script only passes slices on. */
export function applyBatchArguments(
  storeKeys: RedisKeys,
  generation: string,
  { partition, expected, checkpoint, inserts, parked, decisions }: Batch,
): { keys: string[]; args: string[] } {
  const keys = storeKeys.generation(generation)
  const documents: string[] = []
  const indexes = new Map<string, string[]>()
  for (const { id, document, tag, indexes: names } of inserts) {
    if (tag.length !== eventTagLength) throw new RangeError(`a tag of ${tag.length} characters`)
    const score = String(id)
    documents.push(score, document + tag)
    for (const name of names) {
      const members = indexes.get(name)
      if (members === undefined) indexes.set(name, [score, document])
      else members.push(score, document)
    }
  }
  const sections: Section[] = [
    { key: keys.documents, counter: addedField(undefined), args: documents },
    {
      key: keys.parked,
      counter: '',
      args: parked.flatMap(({ offset, ...event }) => [`${partition}/${offset}`, JSON.stringify(event)]),
    },
    { key: keys.parkedSubjects, counter: '', args: parked.flatMap(({ subject }) => ['0', `${partition}/${subject}`]) },
    {
      key: keys.decisions,
      counter: '',
      args: decisions.flatMap((decision) => [decision.key, encodeDecision(decision)]),
    },
    ...[...indexes].map(([name, args]) => ({ key: keys.index(name), counter: addedField(name), args })),
  ]
  return {
    keys: [keys.checkpoints, ...sections.map(({ key }) => key)],
    args: [
      String(partition),
      storedText(expected),
      encodeCheckpoint(checkpoint),
      storeKeys.progress,
      progressMessage(generation, { partition, next: checkpoint.next }),
      String(eventTagLength),
      ...sections.flatMap(({ counter, args }) => [counter, String(args.length), ...args]),
    ],
  }
}

const start = encodeCheckpoint(startOfPartition)

function storedText(checkpoint: Checkpoint): string {
  const text = encodeCheckpoint(checkpoint)
  return text === start ? '' : text
}
