import type { StoredDocument } from '../document.ts'
import type { Checkpoints, Snapshot } from '../store.ts'
import { type Checkpoint, decodeCheckpoint } from '../stored-texts.ts'

/** `member`: an entry of a collection. */
export function decodeDocument(member: string): Pick<StoredDocument, 'json' | 'behind'> {
  const end = member.indexOf('\0')
  return { json: member.slice(0, end), behind: member.slice(end + 1) }
}

/**
 * `active`: its name, or ''. `fields`: the checkpoints hash, each field followed by its value. Partitions are below 1000,
 * so that none is taken for one that would make a list of billions.
 */
export function decodeSnapshot(active: string, fields: readonly string[]): Snapshot {
  const checkpoints = new Map<number, Checkpoint>()
  for (const [field, value] of pairs(fields)) {
    if (/^\d{1,3}$/.test(field)) checkpoints.set(Number(field), decodeCheckpoint(value))
  }
  return { active: active === '' ? undefined : active, checkpoints }
}

/** From all fields of a checkpoints hash; undefined if its generation is gone. */
export function checkpointsIn(fields: readonly string[]): Checkpoints | undefined {
  return fields.includes('epoch') ? decodeSnapshot('', fields).checkpoints : undefined
}

/** Pairs of values that alternate in a reply. */
export function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i] ?? '', flat[i + 1] ?? ''])
  return found
}
