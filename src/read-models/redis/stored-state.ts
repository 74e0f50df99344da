import { type Checkpoint, decodeCheckpoint } from '../checkpoint.ts'
import type { Moment } from '../read-models.ts'

/** What the checkpoints hash of a generation says, and which generation was active when it was read. */
export interface StoredState {
  readonly moment: Moment
  /** By `addedField`. */
  readonly added: ReadonlyMap<string, number>
}

/** `active`: its name, or ''. `fields`: of the checkpoints hash, each followed by its value. */
export function storedState(active: string, fields: readonly string[]): StoredState {
  const checkpoints = new Map<number, Checkpoint>()
  const added = new Map<string, number>()
  for (const [field, value] of pairs(fields)) {
    if (/^\d/.test(field)) checkpoints.set(Number(field), decodeCheckpoint(value))
    else if (field.startsWith('added')) added.set(field, Number(value))
  }
  return { moment: { active: active === '' ? undefined : active, checkpoints }, added }
}

/** Of a reply that holds two things in turn. */
export function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i] ?? '', flat[i + 1] ?? ''])
  return found
}
