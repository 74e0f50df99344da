import { type Checkpoint, decodeCheckpoint } from '../checkpoint.ts'
import type { Snapshot } from '../inspection.ts'

/** `active`: its name, or ''. `fields`: of the checkpoints hash, each followed by its value. */
export function decodeSnapshot(active: string, fields: readonly string[]): Snapshot {
  const checkpoints = new Map<number, Checkpoint>()
  for (const [field, value] of pairs(fields)) {
    if (/^\d/.test(field)) checkpoints.set(Number(field), decodeCheckpoint(value))
  }
  return { active: active === '' ? undefined : active, checkpoints }
}

/** Two things that a reply holds in turn. */
export function pairs(flat: readonly string[]): [string, string][] {
  const found: [string, string][] = []
  for (let i = 0; i < flat.length; i += 2) found.push([flat[i] ?? '', flat[i + 1] ?? ''])
  return found
}
