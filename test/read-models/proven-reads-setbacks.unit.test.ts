import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/lib/errors.ts'
import { all, idsOf, openProvenReads, rollBack, someTurns, untilStatus } from './proving.ts'

describe('proven reads of a store that loses what it held', () => {
  it('an emptied store gives no absence and no short list until it is complete again', async () => {
    const { store, ends, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 1, next: 1 })
    ends.splice(0, 2, 1, 1)
    store.flush()
    await expect(reads.range({ from: 1, to: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.start('second')
    store.apply(1, { partition: 0, next: 1 })
    await expect(reads.range(all)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(2, { partition: 1, next: 1 })
    await untilStatus(reads, 'up')
    expect(await idsOf(reads)).toEqual([1, 2])
    await reads.close()
  })

  it.each([
    ['a full answer', { from: 1, limit: 1 }],
    ['a full answer that is all there is', { from: 1, to: 1, limit: 1 }],
    ['a short answer', all],
    ['an empty answer', { from: 5, limit: 10 }],
  ])('a store put back to an older state over the same connection is noticed by %s', async (_answer, query) => {
    const { store, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 0, next: 2 })
    rollBack(store)
    await expect(reads.range(query)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    expect(reads.state.status).toBe('rebuilding')
    store.apply(2, { partition: 0, next: 2 })
    await untilStatus(reads, 'up')
    expect(await idsOf(reads)).toEqual([1, 2])
    await reads.close()
  })

  it('what an answer shows was never announced, and is not taken back either', async () => {
    const { store, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 }, false)
    store.apply(2, { partition: 0, next: 2 }, false)
    expect(await idsOf(reads)).toEqual([1, 2])
    rollBack(store)
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('a look at the positions notices what was put back before anyone reads', async () => {
    const { store, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 0, next: 2 })
    rollBack(store)
    reads.refresh()
    await untilStatus(reads, 'rebuilding')
    await reads.close()
  })

  it.each([all, { from: 1, limit: 1 }])('a set that lost a document is not called complete: %o', async (query) => {
    const { store, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(2, { partition: 0, next: 2 })
    store.ids = [1]
    await expect(reads.range(query)).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    await reads.close()
  })

  it('a connection lost while positions are on their way leaves them in doubt', async () => {
    const { store, ends, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    const release = store.hold()
    const before = store.reads.checkpoints
    reads.refresh()
    await vi.waitFor(() => expect(store.reads.checkpoints).toBe(before + 1))
    ends[0] = 2
    store.disconnect()
    store.connect()
    release()
    await someTurns()
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(2, { partition: 0, next: 2 })
    await untilStatus(reads, 'up')
    await reads.close()
  })

  it('after a connection was lost even full answers wait for the positions', async () => {
    const { store, ends, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.apply(3, { partition: 0, next: 2 })
    ends[0] = 2
    store.disconnect()
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_unavailable' })
    store.next.set(0, 1)
    store.connect()
    await expect(reads.range({ from: 1, limit: 1 })).rejects.toMatchObject({ code: 'read_model_rebuilding' })
    store.apply(3, { partition: 0, next: 2 })
    await untilStatus(reads, 'up')
    await reads.close()
  })

  it('a known generation is served after a lost connection although the log is away', async () => {
    const { store, log, reads } = openProvenReads()
    await untilStatus(reads, 'up')
    store.apply(1, { partition: 0, next: 1 })
    store.disconnect()
    log.ends = () => Promise.reject(new ServiceError('event_log_unavailable', 'away'))
    store.connect()
    await untilStatus(reads, 'up')
    expect(await idsOf(reads)).toEqual([1])
    await reads.close()
  })
})
