import { DamagedError } from '../damaged.ts'
import { type DocumentId, isTextSet, type StoredDocument } from '../document.ts'
import type { Checkpoints, Snapshot } from '../ports/generations.ts'
import type { Item } from '../ports/inspection.ts'
import { checkText } from '../proven-document.ts'
import { type Checkpoint, decodeCheckpoint } from '../stored-texts.ts'

/** `member`: the entry of the document in its collection. Throws DamagedError. */
export function decodeDocument(
  { collection, id }: DocumentId,
  member: string,
): Pick<StoredDocument, 'json' | 'behind'> {
  const end = member.indexOf('\0')
  if (end < 0) throw new DamagedError(`document ${id} of ${collection} has nothing behind it`)
  return { json: member.slice(0, end), behind: member.slice(end + 1) }
}

/** As `decodeDocument`, of a document that is not sent but read, for the stream that it shows. Throws DamagedError. */
export function decodeShown(document: DocumentId, member: string): Pick<StoredDocument, 'json' | 'behind'> {
  const found = decodeDocument(document, member)
  checkText(document, found.json)
  return found
}

const valuesAndId = /(?:[\w-]* )*?\d{16}(?=\{)/y

/**
 * An entry of a keyed set: its `entryId`, and the JSON behind it. One that cannot be read as such is named by all of it, as no
 * document is.
 */
export function decodeEntry(entry: string): Item {
  const [head = '', length] = /^(\d+):/.exec(entry) ?? []
  valuesAndId.lastIndex = head.length + Number(length)
  if (length === undefined || !valuesAndId.test(entry)) return [entry, '']
  return [entry.slice(0, valuesAndId.lastIndex), entry.slice(valuesAndId.lastIndex)]
}

/**
 * `active`: its name, or ''. `fields`: the checkpoints hash, each field followed by its value. Partitions are below 1000,
 * so that none is taken for one that would make a list of billions. Throws DamagedError.
 */
export function decodeSnapshot(active: string, fields: readonly string[]): Snapshot {
  const checkpoints = new Map<number, Checkpoint>()
  for (const [field, value] of pairs(fields)) {
    if (/^\d{1,3}$/.test(field)) checkpoints.set(Number(field), decodeCheckpoint(value, field))
  }
  return { active: active === '' ? undefined : active, checkpoints }
}

/** From all fields of a checkpoints hash; undefined if its generation is gone. Throws DamagedError. */
export function checkpointsIn(fields: readonly string[]): Checkpoints | undefined {
  return fields.includes('epoch') ? decodeSnapshot('', fields).checkpoints : undefined
}

/** The type of the key of a set. */
export function typeOf(set: string): 'hash' | 'zset' {
  return isTextSet(set) ? 'hash' : 'zset'
}

/** A time in milliseconds since 1970; 0 for what is none. Only a stranger can have written that. */
export function timeIn(text: string): number {
  const time = Number(text)
  return Number.isNaN(new Date(time).getTime()) ? 0 : time
}

/** Pairs of values that alternate in a reply. */
export function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i] ?? '', flat[i + 1] ?? ''])
  return found
}
