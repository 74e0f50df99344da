import { type Checkpoint, encodeCheckpoint, startOfPartition } from '../checkpoint.ts'
import { eventTagLength } from '../event-tag.ts'
import { encodeDecision } from '../key-decision.ts'
import type { Batch, Insert } from '../read-models.ts'
import { progressMessage } from './progress-message.ts'
import { addedField, type RedisKeys } from './redis-keys.ts'
import { encodeParkedEvent, parkedField } from './stored-parked-event.ts'

/** KEYS and ARGV of `apply-batch.lua`: in few and long texts where there are many, which cost least to write. */
export function applyBatchArguments(
  storeKeys: RedisKeys,
  generation: string,
  batch: Batch,
): { keys: string[]; args: string[] } {
  const { partition, expected, checkpoint, parked } = batch
  const keys = storeKeys.generation(generation)
  const inserts = batch.inserts.toSorted((a, b) => a.id - b.id)
  const marks = indexMarks(inserts)
  const at = { partition, next: checkpoint.next, parked: parked.map(({ offset }) => offset) }
  return {
    keys: [
      storeKeys.active,
      storeKeys.building,
      keys.checkpoints,
      keys.documents,
      keys.decisions,
      keys.parked,
      keys.parkedOffsets,
      keys.parkedSubjects,
      keys.counters,
      ...[...marks.keys()].map((name) => keys.index(name)),
    ],
    args: [
      generation,
      String(partition),
      storedText(expected),
      encodeCheckpoint(checkpoint),
      storeKeys.progress,
      progressMessage(generation, at),
      String(eventTagLength),
      String(inserts.length),
      inserts.map(insertText).join(''),
      addedField(undefined),
      ...[...marks].flatMap(([name, marked]) => [addedField(name), marked.toString('latin1')]),
      ...lists(batch).flatMap((list) => [String(list.length), ...list]),
    ],
  }
}

/** No JSON text holds a NUL. */
function insertText({ id, document, tag }: Insert): string {
  if (tag.length !== eventTagLength) throw new RangeError(`a tag of ${tag.length} characters`)
  if (document.includes('\0')) throw new RangeError('a document with a NUL')
  return `${id}\0${document}${tag}\0`
}

const one = '1'.charCodeAt(0)

/** For each index a 1 in the place of every insert that it holds, and a 0 in that of the others. */
function indexMarks(inserts: readonly Insert[]): Map<string, Buffer> {
  const marks = new Map<string, Buffer>()
  inserts.forEach(({ indexes }, place) => {
    for (const name of indexes) {
      const marked = marks.get(name) ?? Buffer.alloc(inserts.length, '0')
      marks.set(name, marked)
      marked[place] = one
    }
  })
  return marks
}

function lists({ partition, decisions, parked, counters, unparked, freed }: Batch): string[][] {
  return [
    decisions.flatMap((decision) => [decision.key, encodeDecision(decision)]),
    parked.flatMap((event) => [parkedField(partition, event.offset), encodeParkedEvent(event)]),
    parked.flatMap(({ subject, offset }) => ['0', `${partition}/${subject}/${offset}`]),
    parked.flatMap(({ subject }) => ['0', `${partition}/${subject}`]),
    [...counters].flatMap(([name, count]) => [name, String(count)]),
    unparked.map((offset) => parkedField(partition, offset)),
    freed.map((subject) => `${partition}/${subject}`),
  ]
}

const start = encodeCheckpoint(startOfPartition)

function storedText(checkpoint: Checkpoint): string {
  const text = encodeCheckpoint(checkpoint)
  return text === start ? '' : text
}
