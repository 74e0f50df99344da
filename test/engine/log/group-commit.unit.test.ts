import { afterEach, describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { NewRecord } from '../../../src/engine/log/event-log.ts'
import { GroupCommit, type GroupCommitLimits } from '../../../src/engine/log/group-commit.ts'

const limits: GroupCommitLimits = { recordsMax: 1000, bytesMax: 512 * 1024, queuedMax: 100 }

/** A log whose appends settle when the test says so. */
class ScriptedLog {
  readonly partitions = 3
  readonly appends: { partition: number; keys: string[]; settle: (outcome: number | Error) => void }[] = []

  append(partition: number, records: readonly NewRecord[]): Promise<number> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: number | Error) => (outcome instanceof Error ? reject(outcome) : resolve(outcome))
      this.appends.push({ partition, keys: records.map(({ key }) => key), settle })
    })
  }

  async nextAppend(index: number) {
    await vi.waitFor(() => expect(this.appends.length).toBeGreaterThan(index))
    const append = this.appends[index]
    if (append === undefined) throw new Error('unreachable')
    return append
  }
}

function record(key: string, value = 'x'): NewRecord {
  return { key, value, headers: {} }
}

function open(overrides: Partial<GroupCommitLimits> = {}) {
  const log = new ScriptedLog()
  const commit = new GroupCommit(log, { ...limits, ...overrides })
  const add = (partition: number, appended: NewRecord, withinMs = 5000) =>
    commit.append(partition, appended, performance.now() + withinMs)
  return { log, commit, add }
}

describe('group commit', () => {
  afterEach(() => void vi.useRealTimers())

  it('appends the records of one turn of the event loop together, in order, each with its offset', async () => {
    const { log, add } = open()
    const positions = ['a', 'b', 'c'].map((key) => add(0, record(key)))
    const append = await log.nextAppend(0)
    expect(append).toMatchObject({ partition: 0, keys: ['a', 'b', 'c'] })
    append.settle(40)
    expect(await Promise.all(positions)).toEqual([40, 41, 42].map((offset) => ({ partition: 0, offset })))
  })

  it('keeps one append in flight, of one partition, and rotates over those with work', async () => {
    const { log, commit, add } = open()
    const all = [add(0, record('a')), add(2, record('b')), add(1, record('c')), add(2, record('d'))]
    for (const [index, expected] of [
      { partition: 0, keys: ['a'] },
      { partition: 1, keys: ['c'] },
      { partition: 2, keys: ['b', 'd'] },
    ].entries()) {
      const append = await log.nextAppend(index)
      expect(append).toMatchObject(expected)
      expect(log.appends).toHaveLength(index + 1)
      append.settle(0)
    }
    await Promise.all(all)
    expect(commit.appendRecords).toMatchObject({ sum: 4, counts: expect.arrayContaining([2, 1]) })
  })

  it('counts an append that fails, too', async () => {
    const { log, commit, add } = open()
    const refused = expect(add(0, record('a'))).rejects.toThrow('away')
    ;(await log.nextAppend(0)).settle(new Error('away'))
    await refused
    expect(commit.appendSeconds.counts.reduce((sum, count) => sum + count)).toBe(1)
  })

  it('gathers for another partition while one is being appended', async () => {
    const { log, commit, add } = open()
    const first = commit.gathering
    const position = add(first, record('a'))
    const append = await log.nextAppend(0)
    expect(commit.gathering).not.toBe(first)
    append.settle(0)
    await position
  })

  it('cuts a batch at the number of records and at the bytes', async () => {
    const { log, add } = open({ recordsMax: 2, bytesMax: 10 })
    const all = [
      record('a'),
      record('b'),
      record('c', '123456'),
      record('d', 'éééé'),
      record('e', '12345678901234'),
    ].map((each) => add(0, each))
    for (const [index, keys] of [['a', 'b'], ['c'], ['d'], ['e']].entries()) {
      const append = await log.nextAppend(index)
      expect(append.keys).toEqual(keys)
      append.settle(0)
    }
    await Promise.all(all)
  })

  it('gives every record of a failed batch the failure, and goes on with the next', async () => {
    const { log, add } = open()
    const failed = [add(0, record('a')), add(0, record('b'))]
    ;(await log.nextAppend(0)).settle(new ServiceError('append_outcome_unknown', 'lost'))
    for (const each of failed) await expect(each).rejects.toMatchObject({ code: 'append_outcome_unknown' })
    const next = add(1, record('c'))
    ;(await log.nextAppend(1)).settle(7)
    expect(await next).toEqual({ partition: 1, offset: 7 })
  })

  it('refuses more than the queue holds, and takes more once there is room', async () => {
    const { log, add } = open({ queuedMax: 2 })
    const taken = [add(0, record('a')), add(0, record('b'))]
    await expect(add(0, record('c'))).rejects.toMatchObject({ code: 'overloaded' })
    const append = await log.nextAppend(0)
    expect(append.keys).toEqual(['a', 'b'])
    append.settle(0)
    await Promise.all(taken)
    const later = add(0, record('d'))
    ;(await log.nextAppend(1)).settle(2)
    expect(await later).toEqual({ partition: 0, offset: 2 })
  })

  it('after the time limit: in flight is unknown, waiting is surely not appended and never will be', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval'] })
    const { log, add } = open()
    const inFlight = add(0, record('in flight'), 1000)
    const append = await log.nextAppend(0)
    const waiting = add(1, record('waiting'), 1000)
    const outcomes = Promise.allSettled([inFlight, waiting])
    vi.advanceTimersByTime(1100)
    expect(await outcomes).toMatchObject([
      { reason: { code: 'append_outcome_unknown' } },
      { reason: { code: 'event_log_unavailable' } },
    ])
    append.settle(0)
    const later = add(0, record('later'), 1000)
    const next = await log.nextAppend(1)
    expect(next.keys).toEqual(['later'])
    next.settle(1)
    expect(await later).toEqual({ partition: 0, offset: 1 })
  })

  it('each record has a deadline of its own, whatever order they come in', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval'] })
    const { log, add } = open()
    const all = [add(0, record('a'), 3000)]
    const first = await log.nextAppend(0)
    all.push(add(1, record('b'), 3000), add(1, record('c'), 1000), add(1, record('d'), 0))
    const outcomes = Promise.allSettled(all)
    vi.advanceTimersByTime(1100)
    first.settle(0)
    const next = await log.nextAppend(1)
    expect(next.keys).toEqual(['b'])
    next.settle(1)
    const refused = { reason: { code: 'event_log_unavailable' } }
    expect(await outcomes).toMatchObject([{ value: { offset: 0 } }, { value: { offset: 1 } }, refused, refused])
  })

  it('does not care when somebody sets the clock', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'setInterval'] })
    const { log, add } = open()
    const positions = [add(0, record('in flight'), 1000), add(0, record('waiting'), 1000)]
    const append = await log.nextAppend(0)
    vi.setSystemTime(Date.now() + 3_600_000)
    vi.advanceTimersByTime(500)
    append.settle(0)
    expect(await Promise.all(positions)).toHaveLength(2)
  })

  it('closes once nothing waits or is in flight', async () => {
    const { log, commit, add } = open()
    const last = add(0, record('a'))
    let closed = false
    const closing = commit.close().then(() => (closed = true))
    const append = await log.nextAppend(0)
    expect(closed).toBe(false)
    append.settle(0)
    await Promise.all([last, closing])
  })
})
