import type { Position } from '../../event-log/event-log.ts'
import { type Checkpoint, decodeCheckpoint } from '../checkpoint.ts'
import type { StoredDocument } from '../document.ts'
import type { Snapshot } from '../inspection.ts'
import { decodeRow, type StreamId, type StreamRow } from '../stream-row.ts'

/** `member`: an entry of a collection. */
export function decodeDocument(member: string): Pick<StoredDocument, 'json' | 'version' | 'row'> {
  const [json = '', version, row] = member.split('\0')
  return { json, version: Number(version), row }
}

/** `member`: an entry of the home collection. `row`: from the rows hash. */
export function decodeStream(
  stream: StreamId,
  member: string | null | undefined,
  row: string | null | undefined,
): StreamRow | undefined {
  const document = member ? decodeDocument(member) : undefined
  if (document?.row === undefined) return typeof row === 'string' ? decodeRow(stream, undefined, row) : undefined
  return decodeRow(stream, { json: document.json, version: document.version }, document.row)
}

/** Begins with the length of the stream's name, so that no other stream's member has the same beginning. */
export function queueMember({ stream, partition, offset }: Position & { readonly stream: StreamId }): string {
  return `${Buffer.byteLength(stream)}:${stream}${String(offset).padStart(16, '0')}/${partition}`
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
