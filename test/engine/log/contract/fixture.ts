import { expect, onTestFinished, vi } from 'vitest'
import type { EventLog, NewRecord } from '../../../../src/engine/log/event-log.ts'

/** A new, empty log and what the suite does to it from outside. */
export interface EventLogFixture {
  readonly log: EventLog
  /** Another object on the same log, as another process would have. */
  open(): Promise<EventLog>
  /** A record that the log refuses to append. */
  readonly refused: NewRecord
  /** Appends to partition 0 what this service never would, but another producer may. */
  appendForeign(record: { key: Buffer | null; value: Buffer | null }): Promise<void>
}

/** The fixture of the test that runs. */
export interface LogUnderTest extends EventLogFixture {
  /** Another, empty log. */
  openFixture(): Promise<EventLogFixture>
}

export const patience = { timeout: 20_000, interval: 20 }

/** Waits until `read` gives what is expected. */
export async function eventually(read: () => unknown, expected: unknown): Promise<void> {
  await vi.waitFor(async () => expect(await read()).toEqual(expected), patience)
}

/** The log, closed after the test. */
export function closedAfterTest<Log extends EventLog>(log: Log): Log {
  onTestFinished(() => log.close())
  return log
}

export function records(...values: string[]): NewRecord[] {
  return values.map((value) => ({ key: 'key', value, headers: {} }))
}

export function partitionsOf(log: EventLog): number[] {
  return Array.from({ length: log.partitions }, (_, partition) => partition)
}
