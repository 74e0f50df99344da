import { membersOf } from './answers.ts'
import {
  type Contradiction,
  contradiction,
  type Exchange,
  eventIn,
  type History,
  type LogRecord,
  outcomeOf,
} from './history.ts'
import type { Prefixes } from './prefixes.ts'

interface Written {
  readonly write: Exchange
  readonly record: LogRecord
  readonly eventId: unknown
  readonly type: unknown
  /** What the event creates, if it creates something. */
  readonly created: string | undefined
}

/**
 * What the writes of a history gave ids to, also where it took no effect: no two requests drew one id, no event was
 * appended twice, and what was sent again under one key to add a pet or a category has one event id.
 */
export function* checkIdentities({ exchanges }: History, prefixes: Prefixes): Generator<Contradiction> {
  const written = exchanges.flatMap((write) =>
    prefixes.recordsOf(write.number).map((record) => readWritten(write, record)),
  )
  const created = written.filter((each) => each.created !== undefined)
  yield* checkSame(
    created,
    'an id was drawn twice',
    ({ created }) => created,
    ({ write }) => write.number,
  )
  yield* checkSame(
    written,
    'appended twice',
    ({ eventId, record }) => `${record.key} ${eventId}`,
    ({ record }) => record,
  )
  const keyed = created.filter(({ write, type }) => write.idempotencyKey !== undefined && isCreation(type))
  yield* checkSame(
    keyed,
    'a key has two event ids',
    ({ write }) => outcomeOf(write),
    ({ eventId }) => eventId,
  )
}

const orderPlaced = 'petstore.OrderPlaced.v1'

/** Whether such an event begins a pet or a category. */
export function isCreation(type: unknown): boolean {
  return typeof type === 'string' && /^petstore\.(PetCreated|CategoryAdded)\.v\d+$/.test(type)
}

function readWritten(write: Exchange, record: LogRecord): Written {
  const { id, type, data } = eventIn(record) ?? {}
  const { orderId } = membersOf(data)
  const created = isCreation(type) ? `stream ${record.key}` : type === orderPlaced ? `order ${orderId}` : undefined
  return { write, record, eventId: id, type, created }
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
