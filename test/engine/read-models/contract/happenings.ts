import { pino } from 'pino'
import { expect } from 'vitest'
import { Applier } from '../../../../src/engine/projector/applier.ts'
import type { ReadModelStore } from '../../../../src/engine/read-models/ports/store.ts'
import { startOfPartition } from '../../../../src/engine/read-models/stored-texts.ts'
import { MemoryEventLog, MemoryLogData } from '../../../../src/engine/testing/memory/memory-event-log.ts'
import { type Happening, happening, type MadeUp, madeUp } from '../../projector/made-up.ts'
import type { AnyRecord } from '../../projector/records.ts'
import { newGeneration } from './samples.ts'

export const logger = pino({ level: 'silent' })

/** An event log of one partition that holds these records. */
export function logOf(records: readonly AnyRecord[]) {
  const data = new MemoryLogData(1)
  data.add(0, records)
  return new MemoryEventLog(data)
}

/** Applies them in batches that end at the cuts, to a new generation. */
export async function projected(
  store: ReadModelStore,
  log: MemoryEventLog,
  cuts: readonly number[] = [],
): Promise<string> {
  const { name } = newGeneration()
  await store.generations.start({ name, logId: log.logId }, (await store.generations.active())?.name)
  const applier = new Applier({ store: store.projection, log, definition: madeUp as never, logger })
  const [end = 0] = await log.endOffsets()
  let checkpoint = startOfPartition
  for (const next of [...new Set([...cuts.filter((cut) => cut < end), end])].sort((a, b) => a - b)) {
    const { records } = await log.read(0, checkpoint.next, next - checkpoint.next)
    const reached = await applier.apply(name, checkpoint, { partition: 0, from: checkpoint.next, records, next })
    checkpoint = reached ?? expect.fail('it was not applied')
  }
  return name
}

/** Events of one stream after another, each with the next version of its stream. */
export function happenings(...ops: readonly (Pick<Happening, 'op'> & Partial<MadeUp>)[]): AnyRecord[] {
  const versions = new Map<string, number>()
  return ops.map(({ stream = '1', n = 100 + Number(stream), ...rest }, i) => {
    const version = (versions.get(stream) ?? 0) + 1
    versions.set(stream, version)
    return happening({ stream, n, id: `event ${i}`, version, ...rest })
  })
}
