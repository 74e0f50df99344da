import type { EventLog, NewRecord } from '../../../src/event-log/event-log.ts'

/** A new, empty log and what the suite does to it from outside. */
export interface EventLogFixture {
  readonly log: EventLog
  /** Another object on the same log, as another process would have. */
  open(): Promise<EventLog>
  /** A record that the log refuses to append. */
  readonly refused: NewRecord
  /** Appends to partition 0 what this service never would, but another producer may. */
  appendForeign(record: { key: Buffer | null; value: Buffer | null }): Promise<void>
  /** Closes every object that was opened and removes the log. */
  remove(): Promise<void>
}

/** The fixture of the test that runs. */
export interface LogUnderTest {
  readonly log: EventLog
  readonly fixture: EventLogFixture
  /** Another, empty log, to be removed by the test. */
  openFixture(): Promise<EventLogFixture>
}

export const patience = { timeout: 20_000, interval: 20 }

export function records(...values: string[]): NewRecord[] {
  return values.map((value) => ({ key: 'key', value, headers: {} }))
}

export function partitionsOf(log: EventLog): number[] {
  return Array.from({ length: log.partitions }, (_, partition) => partition)
}
