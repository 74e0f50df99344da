import { expect, it, onTestFinished } from 'vitest'
import type { LogRecord } from '../../../src/engine/log/event-log.ts'
import { Applier } from '../../../src/engine/projector/applier.ts'
import type { Batch } from '../../../src/engine/read-models/ports/projection.ts'
import type { ReadModelStore } from '../../../src/engine/read-models/ports/store.ts'
import { openSqliteReadModels } from '../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { decodeEntry, decodeRow, startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'
import { memoryReadModels } from '../read-models/memory-read-models.ts'
import { theatre } from '../theatre/theatre.ts'
import { logger } from './projecting.ts'
import { bookingEvent, logOf, seatAdded } from './records.ts'

const events = 100_000
const batchRecords = 500

/** One seat is booked and given back over and over. */
function* longStream(): Generator<LogRecord[]> {
  for (let from = 0; from < events; from += batchRecords) {
    const records = Array.from({ length: batchRecords }, (_, i) => {
      const version = from + i + 1
      if (version === 1) return seatAdded({ id: 1 })
      return bookingEvent(
        version % 2 === 0 ? 'BookingPlaced' : 'BookingCancelled',
        1,
        10 + Math.floor(version / 2),
        version,
      )
    })
    yield logOf(records, from)
  }
}

/** The bytes of all that a batch puts, but for the documents of bookings: each event of one adds one. */
function bytesOf({ documents, texts }: Batch): number {
  const seats = documents.flatMap(({ after }) => (after?.collection === 'seats' ? [after.json + after.behind] : []))
  return [...seats, ...texts.history.put.flat(), ...texts.rows.put.flat()].join('').length
}

it.each<[string, () => ReadModelStore]>([
  ['memory', () => memoryReadModels()],
  ['SQLite', () => openSqliteReadModels({ file: ':memory:', version: 'v1', names: theatre.names, isOwner: true })],
])(
  'a stream of 100,000 events costs with each what it cost with the first, in %s',
  async (_, open) => {
    const store = open()
    onTestFinished(() => store.close())
    await store.generations.start({ name: 'generation', logId: 'log' }, undefined)
    const bytes: number[] = []
    const { projection } = store
    const measured: typeof projection = {
      load: (...request) => projection.load(...request),
      apply: (name, batch) => {
        bytes.push(bytesOf(batch))
        return projection.apply(name, batch)
      },
    }
    const log = { partitionFor: () => 0, endOffsets: async () => [], read: async () => ({ records: [], next: 0 }) }
    const applier = new Applier({ store: measured, definition: theatre, log, logger })
    let checkpoint = startOfPartition
    for (const records of longStream()) {
      const batch = { partition: 0, from: checkpoint.next, records, next: checkpoint.next + batchRecords }
      checkpoint = (await applier.apply('generation', checkpoint, batch)) ?? expect.fail('it was not applied')
    }
    expect(checkpoint.counts.applied).toBe(events)
    // Offsets get longer; nothing else grows.
    expect(Math.max(...bytes.slice(-10)) / Math.max(...bytes.slice(10, 20))).toBeLessThan(1.5)
    const { items } = (await store.inspection.scan('generation', 'seats', undefined, 1)) ?? expect.fail('it is gone')
    const [, row = ''] = items[0]?.[1].split('\0') ?? []
    expect(row.length).toBeLessThan(2048)
    expect(decodeRow('1', undefined, row)).toMatchObject({
      version: events,
      entries: { length: 128 - ((((128 - events) % 64) + 64) % 64) },
    })
    for (const version of [1, 64, 65, 50_000, events - 128, events]) {
      const { entries, proof } = await store.reads.load('generation', {
        stream: '1',
        versions: { first: version - 1, last: version },
      })
      expect([entries.get(version)?.offset, proof.isComplete]).toEqual([version - 1, true])
    }
    const chunk = (await store.inspection.find('generation', 'history', ['700/1']))?.texts[0]
    expect(chunk?.split(',').map((entry) => decodeEntry(entry).offset)).toEqual(
      Array.from({ length: 64 }, (_, i) => 44_800 + i),
    )
  },
  120_000,
)
