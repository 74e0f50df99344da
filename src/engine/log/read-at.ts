import { ServiceError } from '../lib/errors/errors.ts'
import type { EventLog, LogRecord, Offset } from './event-log.ts'

/** Records that are not far from each other are read together with those between them. */
const gapMax = 100
const rangeMax = 500
const rangesAtOnce = 4
/** A log gives fewer records a read where they are large: more reads than these are for fewer records. */
const readsMax = 4

/** The log has no record at an offset that it once had: it lost its end, or is another log. */
export class RecordGoneError extends Error {
  override readonly name = 'RecordGoneError'

  constructor(partition: number, offset: Offset) {
    super(`the log has no such record at offset ${offset} of partition ${partition} any more`)
  }
}

type ReadableLog = Pick<EventLog, 'read' | 'endOffsets'>

/**
 * The records at these offsets, which are in ascending order. Throws RecordGoneError if one of them is not there, and
 * ServiceError event_log_unavailable.
 */
export async function readAt(log: ReadableLog, partition: number, offsets: readonly Offset[]): Promise<LogRecord[]> {
  const ranges = rangesOf(offsets)
  const found: LogRecord[] = []
  for (let at = 0; at < ranges.length; at += rangesAtOnce) {
    const several = ranges.slice(at, at + rangesAtOnce)
    const records = await Promise.all(several.map((range) => readRange(log, partition, range)))
    found.push(...records.flat())
  }
  return found
}

/**
 * The records before an offset, in log order: those of `count` offsets, or of fewer where records are large, since it
 * reads towards that offset. `from` is the first of those offsets. Throws as `readAt`.
 */
export async function readBefore(
  log: ReadableLog,
  partition: number,
  before: Offset,
  count: number,
): Promise<{ readonly records: readonly LogRecord[]; readonly from: Offset }> {
  for (let wanted = Math.min(count, before); ; wanted = Math.ceil(wanted / readsMax)) {
    const from = before - wanted
    const records: LogRecord[] = []
    let at = from
    for (let reads = 0; at < before && reads < readsMax; reads++) {
      const { records: found, next } = await log.read(partition, at, before - at)
      if (next === at) throw await whyNothing(log, partition, at)
      records.push(...found.filter(({ offset }) => offset < before))
      at = next
    }
    if (at >= before) return { records, from }
  }
}

function rangesOf(offsets: readonly Offset[]): readonly (readonly Offset[])[] {
  const ranges: Offset[][] = []
  for (const offset of offsets) {
    const range = ranges.at(-1)
    const [first = 0, last = 0] = [range?.[0], range?.at(-1)]
    if (range !== undefined && offset - last <= gapMax && offset - first < rangeMax) range.push(offset)
    else ranges.push([offset])
  }
  return ranges
}

async function readRange(log: ReadableLog, partition: number, offsets: readonly Offset[]): Promise<LogRecord[]> {
  const [last = 0] = offsets.slice(-1)
  const found: LogRecord[] = []
  for (let wanted = offsets[0]; wanted !== undefined; wanted = offsets[found.length]) {
    const { records, next } = await log.read(partition, wanted, last - wanted + 1)
    for (const record of records) if (record.offset === offsets[found.length]) found.push(record)
    const missing = offsets[found.length] ?? next
    if (missing < next) throw new RecordGoneError(partition, missing)
    if (next === wanted) throw await whyNothing(log, partition, wanted)
  }
  return found
}

async function whyNothing(log: ReadableLog, partition: number, offset: Offset): Promise<Error> {
  const { [partition]: end = 0 } = await log.endOffsets()
  if (offset >= end) return new RecordGoneError(partition, offset)
  return new ServiceError('event_log_unavailable', `The log does not give the record at offset ${offset}.`)
}
