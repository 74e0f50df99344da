import { encodeCheckpoint } from '../read-models/checkpoint.ts'
import { encodeIdempotencyRecord, type IdempotencyRecord } from '../read-models/idempotency-record.ts'
import type { Contents, InspectedPage, Inspection, Snapshot } from '../read-models/inspection.ts'
import type { ParkedEvent } from '../read-models/parked-event.ts'

/** Something in the read models that is not what the log says. */
export interface Difference {
  /** What it is in: a set of documents, rows, keys or parked events; or it is a size or a checkpoint. */
  readonly where: string
  readonly id: string
  /** Undefined: it should not be there. */
  readonly expected: string | undefined
  /** Undefined: it is missing. */
  readonly found: string | undefined
}

type Texts = Iterable<readonly [id: string, text: string]>

export function compareTexts(where: string, expected: Texts, found: Texts): Difference[] {
  const [expectedTexts, foundTexts] = [new Map(expected), new Map(found)]
  return [...new Set([...expectedTexts.keys(), ...foundTexts.keys()])]
    .map((id) => ({ where, id, expected: expectedTexts.get(id), found: foundTexts.get(id) }))
    .filter((each) => each.expected !== each.found)
}

/** Both as of the same positions in the log. */
export function compareContents(expected: Contents, found: Contents): Difference[] {
  return [
    ...compareTexts('checkpoint of partition', checkpoints(expected), checkpoints(found)),
    ...compareTexts('size', sizes(expected), sizes(found)),
  ]
}

function checkpoints({ snapshot }: Contents): Texts {
  return [...snapshot.checkpoints].map(([partition, each]) => [String(partition), encodeCheckpoint(each)])
}

/** Sets without anything are left out: whether there ever was something depends on the batches. */
function sizes({ sizes }: Contents): Texts {
  const filled = [...sizes].filter(([, { actual, recorded }]) => actual !== 0 || recorded !== 0)
  return filled.map(([name, { actual, recorded }]) => [name, `${actual} of ${recorded}`])
}

/** A set that is read in pages without order, and one item at a time. */
export interface UnorderedSet<Item> {
  /** One of `otherSets`. */
  readonly name: string
  page(
    inspection: Inspection,
    generation: string,
    from: string,
    limit: number,
  ): Promise<InspectedPage<Item> | undefined>
  /** What is stored in the place of an item. */
  find(inspection: Inspection, generation: string, item: Item): Promise<FoundItem<Item> | undefined>
  /** Its id and all that it says. */
  text(item: Item): readonly [id: string, text: string]
}

interface FoundItem<Item> {
  readonly snapshot: Snapshot
  readonly item: Item | undefined
}

export const rowSet: UnorderedSet<readonly [stream: string, row: string]> = {
  name: 'rows',
  page: (inspection, ...page) => inspection.rows(...page),
  async find(inspection, generation, [stream]) {
    const found = await inspection.row(generation, stream)
    return found && { snapshot: found.snapshot, item: found.row === undefined ? undefined : [stream, found.row] }
  },
  text: (row) => row,
}

export const keySet: UnorderedSet<IdempotencyRecord> = {
  name: 'keys',
  page: (inspection, ...page) => inspection.keys(...page),
  async find(inspection, generation, key) {
    const found = await inspection.key(generation, key)
    return found && { snapshot: found.snapshot, item: found.record }
  },
  text: (record) => [`${record.partition}/${record.key}`, encodeIdempotencyRecord(record)],
}

export const parkedSet: UnorderedSet<ParkedEvent> = {
  name: 'parked',
  page: (inspection, ...page) => inspection.parked(...page),
  async find(inspection, generation, position) {
    const found = await inspection.parkedAt(generation, position)
    return found && { snapshot: found.snapshot, item: found.event }
  },
  text: ({ partition, offset, ...said }) => [`${partition}/${offset}`, JSON.stringify(said)],
}
