import {
  type Contradiction,
  contradiction,
  type Exchange,
  eventIn,
  type History,
  type LogRecord,
  outcomeOf,
} from './history.ts'
import { isOf } from './operations.ts'
import type { Prefixes } from './prefixes.ts'

interface Written {
  readonly write: Exchange
  readonly record: LogRecord
  readonly eventId: unknown
  /** The id that was drawn for it, if one was. */
  readonly drawn: number | undefined
}

/**
 * What the writes of a history gave ids to, also where it took no effect: no two requests drew one id, no event was
 * appended twice, and what was sent again under one key to begin a stream has one event id.
 */
export function* checkIdentities({ exchanges }: History, prefixes: Prefixes): Generator<Contradiction> {
  const written = exchanges.flatMap((write) =>
    prefixes.recordsOf(write.number).map((record) => readWritten(write, record, prefixes)),
  )
  const created = written.filter(({ drawn }) => drawn !== undefined)
  yield* checkSame(
    created,
    'an id was drawn twice',
    ({ drawn }) => drawn,
    ({ write }) => write.number,
  )
  yield* checkSame(
    written,
    'appended twice',
    ({ eventId, record }) => `${record.key} ${eventId}`,
    ({ record }) => record,
  )
  const keyed = created.filter(({ write }) => write.idempotencyKey !== undefined && isOf(write, 'create'))
  yield* checkSame(
    keyed,
    'a key has two event ids',
    ({ write }) => outcomeOf(write),
    ({ eventId }) => eventId,
  )
}

function readWritten(write: Exchange, record: LogRecord, { service }: Prefixes): Written {
  return { write, record, eventId: eventIn(record)?.id, drawn: service.drawnIn(record)?.id }
}

/** What has the one in common has the other in common. */
function* checkSame(
  written: readonly Written[],
  rule: string,
  one: (written: Written) => unknown,
  other: (written: Written) => unknown,
): Generator<Contradiction> {
  for (const [name, same] of Map.groupBy(written, one)) {
    if (new Set(same.map(other)).size < 2) continue
    const exchanges = new Set(same.map(({ write }) => write))
    const records = same.map(({ record }) => record)
    yield contradiction(rule, `${rule}: ${name}.`, [...exchanges], records.slice(0, 5))
  }
}
