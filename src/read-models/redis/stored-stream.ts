import { decodeRow, type StreamId, type StreamRow } from '../stream-row.ts'

/** A member of a collection. */
export interface StoredMember {
  readonly json: string
  readonly version: number
  readonly row: string | undefined
}

export function decodeMember(member: string): StoredMember {
  const [json = '', version, row] = member.split('\0')
  return { json, version: Number(version), row }
}

/** `member`: of the home collection. `row`: from the rows hash. */
export function decodeStream(
  stream: StreamId,
  member: string | undefined,
  row: string | undefined,
): StreamRow | undefined {
  const document = member === undefined ? undefined : decodeMember(member)
  if (document?.row !== undefined) {
    return decodeRow(stream, { json: document.json, version: document.version }, document.row)
  }
  return row === undefined ? undefined : decodeRow(stream, undefined, row)
}
