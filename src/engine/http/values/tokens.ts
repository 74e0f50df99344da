import { crc32 } from 'node:zlib'
import { ServiceError } from '../../lib/errors/errors.ts'
import type { Offset, Position } from '../../log/event-log.ts'

/**
 * Text for clients to send back unchanged: base64url of the content and its checksum. The checksum detects damage; it
 * is not a secret, since sealed text gives access to nothing.
 */
export function seal(content: string): string {
  return Buffer.from(`${content}:${crc32(content).toString(16)}`).toString('base64url')
}

/** The content; undefined unless made by `seal`. */
function unseal(sealed: string): string | undefined {
  const text = Buffer.from(sealed, 'base64url').toString('latin1')
  const content = text.slice(0, Math.max(0, text.lastIndexOf(':')))
  return seal(content) === sealed ? content : undefined
}

/**
 * The beginning of a page, as the opaque text in its link: `version:last id:list`, sealed. `list` names the resource
 * and the filter; of the home collection, the first filter alone. In a history it is the last version, and `.index` behind
 * it where the page ends with one of several events.
 */
const cursorVersion = 1
const cursorForm = new RegExp(`^${cursorVersion}:([1-9]\\d{0,15})(?:\\.(0|[1-9]\\d{0,4}))?:(.*)$`)
/** Sealed text is ASCII, whatever the value of a filter is. */
const written = (list: string) => encodeURIComponent(list).replaceAll('%3A', ':')

/** The cursor of the page of `list` that begins after `lastId`. */
export function writeCursor(lastId: number, list = ''): string {
  return writeHistoryCursor({ version: lastId }, list)
}

/** The last id of the previous page. Throws ServiceError invalid_cursor unless made by `writeCursor` for `list`. */
export function readCursor(cursor: string, list = ''): number {
  const { version: lastId, index } = readHistoryCursor(cursor, list)
  if (index !== undefined) throw notOfList()
  return lastId
}

/** Behind an event of a stream. */
interface HistoryPlace {
  readonly version: number
  /** Undefined behind the last event of the version. */
  readonly index?: number | undefined
}

export function writeHistoryCursor({ version, index }: HistoryPlace, list: string): string {
  return seal(`${cursorVersion}:${version}${index === undefined ? '' : `.${index}`}:${written(list)}`)
}

/** Throws ServiceError invalid_cursor unless made by `writeHistoryCursor` for `list`. */
export function readHistoryCursor(cursor: string, list: string): HistoryPlace {
  const [, last, index, madeFor] = cursorForm.exec(unseal(cursor) ?? '') ?? []
  const version = Number(last)
  if (!Number.isSafeInteger(version)) throw notOfList()
  if (madeFor !== written(list)) {
    throw new ServiceError('invalid_cursor', 'query: cursor belongs to another list, or to another filter')
  }
  return { version, index: index === undefined ? undefined : Number(index) }
}

function notOfList(): ServiceError {
  return new ServiceError('invalid_cursor', 'query: cursor does not come from a list')
}

/** The log whose positions consistency tokens name. */
export interface TokenScope {
  readonly logId: string
  readonly partitions: number
}

/**
 * `log id:partition:offset,partition:offset,…`; those of earlier releases name one position. A token of many partitions is
 * `log id:~` and what `pack` writes, as proxies take 8 KiB for a header.
 */
const tokenForm = /^([^,]+):((?:\d{1,9}:\d{1,16}(?:,\d{1,9}:\d{1,16})*)?|~[1-6][\w-]+)$/
const listedMax = 64
const packedBytesMax = 6
const packedMax = 256 ** packedBytesMax - 1

/** Maximum per header; more than one for each partition of the largest log are of no use. */
const tokensMax = 256

/** Positions of the log as opaque text: a read with it includes everything up to them, on any instance. */
export function writeToken({ logId, partitions }: TokenScope, positions: readonly Position[]): string {
  const each = furthest(positions)
  if (each.length > listedMax && each.every(({ offset }) => offset < packedMax))
    return seal(`${logId}:~${pack(each, partitions)}`)
  return seal(`${logId}:${each.map(({ partition, offset }) => `${partition}:${offset}`)}`)
}

/**
 * The positions in a Consistency-Token header, or one like it, one per partition. The header has one token, or several
 * separated by commas, where empty elements do not count (RFC 9110 section 5.6.1). Throws ServiceError invalid_consistency_token unless each was made by `writeToken` for the same log.
 */
export function readTokens(scope: TokenScope, text: string, name = 'header: Consistency-Token'): readonly Position[] {
  const tokens = text.split(',', tokensMax + 1)
  const invalid = (what: string) => new ServiceError('invalid_consistency_token', `${name} ${what}`)
  if (tokens.length > tokensMax) throw invalid(`has more than ${tokensMax} tokens`)
  const given = tokens.map((token) => token.trim()).filter((token) => token !== '')
  if (given.length === 0) throw invalid('has no token')
  return furthest(given.flatMap((token) => readToken(scope, token, invalid)))
}

function readToken(
  { logId, partitions }: TokenScope,
  token: string,
  invalid: (what: string) => ServiceError,
): Position[] {
  const [, madeIn, pairs = ''] = tokenForm.exec(unseal(token) ?? '') ?? []
  if (madeIn !== undefined && madeIn !== logId) throw invalid('belongs to another event log')
  if (madeIn !== undefined && pairs === '') return [] // the beginning of a log
  const packed = pairs.startsWith('~') ? unpack(pairs.slice(1), partitions) : undefined
  if (packed !== undefined) return packed
  return pairs.split(',').map((pair) => {
    const [partition = Number.NaN, offset = Number.NaN] = pair.split(':').map(Number)
    if (!(partition < partitions) || !Number.isSafeInteger(offset)) {
      throw invalid('was not issued by this service')
    }
    return { partition, offset }
  })
}

/** How many bytes the largest number needs; then, in so many bytes each, the number of records up to the position of each partition. */
function pack(positions: readonly Position[], partitions: number): string {
  const largest = Math.max(...positions.map(({ offset }) => offset + 1))
  let width = 1
  while (largest >= 256 ** width) width++
  const packed = Buffer.alloc(partitions * width)
  for (const { partition, offset } of positions) packed.writeUIntBE(offset + 1, partition * width, width)
  return width + packed.toString('base64url')
}

function unpack(text: string, partitions: number): Position[] | undefined {
  const width = Number(text[0])
  const packed = Buffer.from(text.slice(1), 'base64url')
  if (packed.length !== width * partitions) return undefined
  const counts = Array.from({ length: partitions }, (_, partition) => packed.readUIntBE(partition * width, width))
  return counts.flatMap((count, partition) => (count > 0 ? [{ partition, offset: count - 1 }] : []))
}

function furthest(positions: readonly Position[]): readonly Position[] {
  if (positions.length === 1) return positions
  const offsets = new Map<number, Offset>()
  for (const { partition, offset } of positions) {
    offsets.set(partition, Math.max(offset, offsets.get(partition) ?? 0))
  }
  return [...offsets].map(([partition, offset]) => ({ partition, offset }))
}
