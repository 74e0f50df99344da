import { encodeCheckpoint } from '../read-models/checkpoint.ts'
import type { Contents, Place, Size } from '../read-models/inspection.ts'
import type { ParkedAt } from '../read-models/read-models.ts'

/** Something in the read models that is not what the log says. */
export interface Difference {
  /** What it is: a document, an entry of an index, a checkpoint, … */
  readonly where: string
  readonly id: string
  /** Undefined: it should not be there. */
  readonly expected: string | undefined
  /** Undefined: it is missing. */
  readonly found: string | undefined
}

export interface Entry {
  readonly id: number
  readonly text: string
}

export function compareEntries(where: string, expected: readonly Entry[], found: readonly Entry[]): Difference[] {
  const texts = (entries: readonly Entry[]) => new Map(entries.map(({ id, text }) => [String(id), text]))
  return compareTexts(where, texts(expected), texts(found))
}

/** Both of one moment of the log. */
export function compareContents(expected: Contents, found: Contents): Difference[] {
  return [
    ...compareTexts('checkpoint of partition', checkpoints(expected), checkpoints(found)),
    ...compareTexts('size', sizes(expected), sizes(found)),
    ...compareTexts('counter', counters(expected), counters(found)),
  ]
}

/** What is parked at one place, with what the log says. */
export function compareParked(
  { partition, offset }: Place,
  expected: ParkedAt | undefined,
  found: ParkedAt | undefined,
): Difference[] {
  const texts = (event: ParkedAt | undefined) => {
    if (event === undefined) return new Map<string, string>()
    const { subject, reason, value } = event
    return new Map([[`${partition}/${offset}`, JSON.stringify({ subject, reason, value })]])
  }
  return compareTexts('parked event', texts(expected), texts(found))
}

function compareTexts(
  where: string,
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): Difference[] {
  const ids = new Set([...expected.keys(), ...found.keys()])
  return [...ids]
    .map((id) => ({ where, id, expected: expected.get(id), found: found.get(id) }))
    .filter((each) => each.expected !== each.found)
}

function checkpoints({ moment }: Contents): Map<string, string> {
  return new Map([...moment.checkpoints].map(([partition, each]) => [String(partition), encodeCheckpoint(each)]))
}

function sizes({ documents, indexes, decisions, parked }: Contents): Map<string, string> {
  const text = ({ held, added }: Size) => `${held} of ${added}`
  const filled = [...indexes].filter(([, { added }]) => added > 0)
  return new Map([
    ['documents', text(documents)],
    ['decisions', String(decisions)],
    ['parked events', String(parked)],
    ...filled.map(([name, size]): [string, string] => [`index ${name}`, text(size)]),
  ])
}

function counters({ counters: counts }: Contents): Map<string, string> {
  return new Map([...counts].map(([name, count]) => [name, String(count)]))
}
