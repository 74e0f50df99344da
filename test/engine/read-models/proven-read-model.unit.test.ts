import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { DamagedError } from '../../../src/engine/read-models/damaged.ts'
import type { Look } from '../../../src/engine/read-models/ports/generations.ts'
import { ProvenReadModel } from '../../../src/engine/read-models/proven-read-model.ts'
import type { AtLeast, ReadModel } from '../../../src/engine/read-models/read-model.ts'
import { eventually } from '../../lib/eventually.ts'
import { all, idsIn, openProven, someTurns, stopClock } from './scripted-store.ts'

const longMs = 1_000_000
const rebuilding = { code: 'read_model_rebuilding' }
const unavailable = { code: 'read_model_unavailable' }

/** The ways to read. */
const ways: Record<string, (model: ReadModel, atLeast?: AtLeast) => Promise<unknown>> = {
  find: (model, atLeast) => model.find({ collection: 'seats', id: 1 }, atLeast),
  page: (model, atLeast) => model.page(all, atLeast),
  count: (model, atLeast) => model.count({ collection: 'seats', indexKeys: ['kind:a'] }, atLeast),
  load: (model, atLeast) => model.load({ stream: '1', key: { partition: 0, key: 'k' } }, atLeast),
}

describe('a proven read model', () => {
  it('gives on what the store answers, and the checkpoints it was read at', async () => {
    const { store, model, until } = openProven()
    await until('up')
    store.apply(1, 0, 1)
    store.apply(2, 1, 4)
    const reached = [await store.checkpoints('first')]
    const document = { json: '{"id":1}', stream: '1' }
    expect(await model.find({ collection: 'seats', id: 1 })).toEqual({ document, reached })
    expect(await model.find({ collection: 'seats', id: 3 })).toEqual({ document: undefined, reached })
    expect(await model.page({ ...all, limit: 1 })).toEqual({ documents: '{"id":1}', count: 1, last: 1, reached })
    const load = vi.spyOn(store, 'load')
    const query = { stream: '1', key: { partition: 1, key: 'k' }, versions: { first: 1, last: 2 } }
    const found = await model.load(query, undefined, 'owner')
    const { proof: _, ...stream } = (await load.mock.results[0]?.value) ?? {}
    expect(found).toEqual({ ...stream, reached })
    expect([load.mock.calls, store.asked.reads]).toEqual([[['first', query, 'owner']], 4])
  })

  describe.each(Object.entries(ways))('does not %s', (_, read) => {
    it('before everything is there that the log held', async () => {
      const { store, tracker, model, until } = openProven([2, 1])
      await tracker.look()
      await expect(read(model)).rejects.toMatchObject(rebuilding)
      expect(store.asked.reads).toBe(0)
      store.apply(1, 0, 2)
      await expect(read(model)).rejects.toMatchObject(rebuilding)
      store.apply(2, 1, 1)
      await until('up')
      await read(model)
    })

    it('while progress is not heard', async () => {
      const { store, model, until } = openProven()
      await until('up')
      store.disconnect()
      await expect(read(model)).rejects.toMatchObject(unavailable)
      expect(model.state).toEqual({ status: 'down', generation: 'first' })
    })

    it('where something is damaged, and says what', async () => {
      const { store, model, incomplete, until } = openProven()
      await until('up')
      const damaged = new DamagedError('the row of stream "1" is not a row')
      const spies = (['find', 'page', 'count', 'load'] as const).map((each) =>
        vi.spyOn(store, each).mockRejectedValue(damaged),
      )
      await expect(read(model)).rejects.toMatchObject(rebuilding)
      expect(incomplete.report.mock.calls).toEqual([['first', 'the row of stream "1" is not a row']])
      for (const spy of spies) spy.mockRestore()
      await read(model)
    })

    it('in a set that lost something, and says so', async () => {
      const { store, model, incomplete, until } = openProven()
      await until('up')
      store.apply(1, 0, 1)
      store.ids = []
      await expect(read(model)).rejects.toMatchObject(rebuilding)
      expect(incomplete.report.mock.calls).toEqual([['first', undefined]])
      store.start('second')
      store.apply(1, 0, 1)
      await eventually(() => expect(model.state).toEqual({ status: 'up', generation: 'second' }))
      await read(model)
      store.ids = []
      await expect(read(model)).rejects.toMatchObject(rebuilding)
      expect(incomplete.report.mock.calls).toEqual([
        ['first', undefined],
        ['second', undefined],
      ])
    })

    it('in a generation made from another log', async () => {
      const { store, tracker, model, until } = openProven()
      await until('up')
      store.start('of another log', 'another log')
      await expect(read(model)).rejects.toMatchObject(rebuilding)
      await tracker.look()
      expect(model.state).toEqual({ status: 'rebuilding' })
    })
  })

  it('waits until the log can say what it holds', async () => {
    const { store, log, ends, tracker, model, until } = openProven([0])
    log.endOffsets.mockRejectedValue(new ServiceError('event_log_unavailable', 'away'))
    for (let look = 0; look < 3; look++) {
      await tracker.look()
      await someTurns()
      expect(model.state.status).toBe('rebuilding')
    }
    log.endOffsets.mockResolvedValue(ends)
    tracker.lookSoon()
    await until('up')
    expect(store.asked.reads).toBe(0)
  })

  it('looks as soon as it hears that everything is there, and not only after a second', async () => {
    stopClock()
    const { store, model } = openProven([2])
    await someTurns()
    store.apply(1, 0, 1)
    await someTurns()
    expect(model.state.status).toBe('rebuilding')
    store.apply(2, 0, 2)
    await vi.advanceTimersByTimeAsync(20)
    expect(model.state.status).toBe('up')
  })

  it('asks for no more than a log that lost its end still holds', async () => {
    const { store, ends, tracker, model, until } = openProven([5])
    store.store(1, 0, 3)
    await tracker.look()
    await someTurns()
    expect(model.state.status).toBe('rebuilding')
    ends[0] = 3
    await tracker.look()
    await until('up')
  })

  it('looks by itself, until it is closed', async () => {
    const { tracker, store, log, until } = openProven()
    await until('up')
    const another = new ProvenReadModel({ reads: store, inspection: store, tracker, log })
    await someTurns()
    expect(another.state.status).toBe('up')
    another.close()
    store.takeOver('second')
    await tracker.look()
    expect(another.state.generation).toBe('first')
  })

  it('tells of a store that does not answer as it is, and doubts nothing', async () => {
    const { store, model, until, page } = openProven()
    await until('up')
    const late = new ServiceError('read_model_unavailable', 'late')
    const asked = vi.spyOn(store, 'page').mockRejectedValueOnce(late).mockRejectedValueOnce(late)
    await expect(page()).rejects.toMatchObject(unavailable)
    expect(asked).toHaveBeenCalledTimes(2)
    expect(model.state.status).toBe('up')
    expect(await page()).toEqual([])
  })

  it.each(Object.entries(ways))('%s: asks a store once more that did not answer for a moment', async (way, read) => {
    const { store, until, model } = openProven()
    await until('up')
    const late = new ServiceError('read_model_unavailable', 'late')
    const asked = vi.spyOn(store, way as 'find' | 'page' | 'count' | 'load').mockRejectedValueOnce(late)
    await read(model)
    expect(asked).toHaveBeenCalledTimes(2)
  })

  it('does not ask again once the connection is lost, nor after a mistake of its own', async () => {
    const { store, until, page } = openProven()
    await until('up')
    const asked = vi.spyOn(store, 'page').mockRejectedValueOnce(new TypeError('a mistake'))
    await expect(page()).rejects.toThrow('a mistake')
    asked.mockImplementationOnce(async () => {
      store.disconnect()
      throw new ServiceError('read_model_unavailable', 'lost')
    })
    await expect(page()).rejects.toMatchObject(unavailable)
    expect(asked).toHaveBeenCalledTimes(2)
  })

  it('answers within 1.5 seconds, however slow the store is about a second answer', async () => {
    const { store, model, until } = openProven()
    await until('up')
    stopClock()
    const { find } = store
    vi.spyOn(store, 'find').mockImplementation(async (...query) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      setTimeout(resolve, 900)
      await promise
      return {
        ...(await find.apply(store, query)),
        proof: { active: 'other', checkpoints: new Map(), isComplete: true },
      }
    })
    const refused = expect(model.find({ collection: 'seats', id: 1 })).rejects.toMatchObject(unavailable)
    await vi.advanceTimersByTimeAsync(1500)
    await refused
  })
})

it('never says up while looks fail', async () => {
  const { store, tracker, model, until } = openProven()
  await until('up')
  const looking = vi.spyOn(store, 'look').mockRejectedValue(new Error('refused'))
  await tracker.look().catch(() => {})
  expect(model.state).toEqual({ status: 'down', generation: 'first' })
  looking.mockRestore()
  await tracker.look()
  expect(model.state).toEqual({ status: 'up', generation: 'first' })
})

it('one more look keeps a read for 300 ms at most', async () => {
  const { store, model, until } = openProven()
  await until('up')
  stopClock()
  const { promise, resolve } = Promise.withResolvers<Look>()
  const look = await store.look()
  vi.spyOn(store, 'look').mockReturnValue(promise)
  store.takeOver('second')
  const refused = expect(model.page(all)).rejects.toMatchObject(rebuilding)
  await vi.advanceTimersByTimeAsync(300)
  await refused
  resolve(look)
})

describe('reading at least up to given positions', () => {
  const at = (...positions: [partition: number, offset: number][]) =>
    positions.map(([partition, offset]) => ({ partition, offset }))

  it.each(Object.entries(ways))('%s: the answer has all of them, however long that takes', async (_, read) => {
    const { store, model, log, ends, until } = openProven()
    await until('up')
    ends.splice(0, 2, 1, 1)
    log.endOffsets.mockClear()
    const settled = vi.fn()
    const answer = read(model, { positions: at([0, 0], [1, 0]), wait: { timeoutMs: longMs } }).then(settled)
    await eventually(() => expect(model.waiting).toBe(1))
    store.apply(1, 0, 1)
    await someTurns()
    expect([settled.mock.calls.length, model.waiting]).toEqual([0, 1])
    store.apply(2, 1, 1)
    await answer
    expect([settled.mock.calls.length, model.waiting, log.endOffsets.mock.calls.length]).toEqual([1, 0, 1])
  })

  it('costs one read, and the log nothing, where they are reached', async () => {
    const { store, model, log, until } = openProven()
    await until('up')
    log.endOffsets.mockClear()
    store.apply(1, 0, 1)
    const page = await model.page(all, { positions: at([0, 0]), wait: { timeoutMs: 0 } })
    expect([idsIn(page), store.asked.reads, log.endOffsets.mock.calls.length]).toEqual([[1], 1, 0])
  })

  it('is not satisfied by an announcement that the answer does not bear out', async () => {
    const { store, ends, model, until } = openProven()
    await until('up')
    ends[0] = 2
    store.apply(1, 0, 1)
    const release = store.hold()
    const asked = vi.spyOn(store, 'page')
    const answer = model.page(all, { positions: at([0, 1]), wait: { timeoutMs: longMs } })
    store.apply(2, 0, 2)
    release()
    expect(idsIn(await answer)).toEqual([1, 2])
    expect(asked).toHaveBeenCalledTimes(2)
  })

  const beyond = 'invalid_consistency_token'
  const behind = 'read_model_behind'
  it.each<[what: string, ends: number[] | undefined, wait: number, code: string]>([
    ['the log holds more, but not in time', [2, 0], 1000, behind],
    ['the log holds more, and nobody waits', [2, 0], 0, behind],
    ['the log ends before', [1, 0], longMs, beyond],
    ['the log ends before, and nobody waits', [1, 0], 0, beyond],
    ['the log has no such partition', [], longMs, beyond],
    ['the log is away', undefined, 1000, behind],
  ])('refuses what is not reached: %s', async (_, ends, timeoutMs, code) => {
    stopClock()
    const { model, log, store, until } = openProven()
    await until('up')
    store.apply(1, 0, 1)
    log.endOffsets.mockClear().mockImplementation(async () => {
      if (ends === undefined) throw new ServiceError('event_log_unavailable', 'away')
      return ends
    })
    const answer = model.page(all, { positions: at([0, 0], [0, 1]), wait: { timeoutMs } })
    const refused = expect(answer).rejects.toMatchObject({ code })
    await vi.advanceTimersByTimeAsync(code === behind ? timeoutMs : 50)
    await refused
    const timers = vi.getTimerCount() - 1 // the tracker's
    expect([log.endOffsets.mock.calls.length, model.waiting, timers]).toEqual([1, 0, 0])
  })

  it('ends as soon as nobody wants it any more', async () => {
    const { store, ends, model, until } = openProven([1, 0])
    store.next.set(0, 1)
    await until('up')
    ends[0] = 2
    let isAbandoned = false
    const wait = { timeoutMs: longMs, isAbandoned: () => isAbandoned }
    const refused = expect(model.page(all, { positions: at([0, 1]), wait })).rejects.toMatchObject({ code: behind })
    await eventually(() => expect(model.waiting).toBe(1))
    isAbandoned = true
    await refused
    expect(model.waiting).toBe(0)
  })
})
