import { type Checkpoint, decodeCheckpoint } from '../checkpoint.ts'
import type { StoredDocument } from '../document.ts'
import type { Snapshot } from '../inspection.ts'

/** `member`: an entry of a collection. */
export function decodeDocument(member: string): Pick<StoredDocument, 'json' | 'behind'> {
  const end = member.indexOf('\0')
  return { json: member.slice(0, end), behind: member.slice(end + 1) }
}

/** `active`: its name, or ''. `fields`: the checkpoints hash, each field followed by its value. */
export function decodeSnapshot(active: string, fields: readonly string[]): Snapshot {
  const checkpoints = new Map<number, Checkpoint>()
  for (const [field, value] of pairs(fields)) {
    if (/^\d/.test(field)) checkpoints.set(Number(field), decodeCheckpoint(value))
  }
  return { active: active === '' ? undefined : active, checkpoints }
}

/** Pairs of values that alternate in a reply. */
export function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i] ?? '', flat[i + 1] ?? ''])
  return found
}
