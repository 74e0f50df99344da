import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { eventually } from '../../lib/eventually.ts'
import { openProven, ScriptedStore, someTurns } from './scripted-store.ts'

const rebuilding = { code: 'read_model_rebuilding' }

/** Proved, with the documents 1 and 2. The log tells from then on that there is a third one. */
async function openProved() {
  const world = openProven([2, 0])
  const { store, ends, log, model, until } = world
  store.store(1, 0, 1)
  store.store(2, 0, 2)
  await until('up')
  ends[0] = 3
  void model.whenApplied({ partition: 0, offset: 2 }, { timeoutMs: 0, isRecorded: true })
  log.endOffsets.mockClear()
  return world
}
type World = Awaited<ReturnType<typeof openProved>>

describe('a proven read model refuses to answer', () => {
  const cases: Record<string, (world: World) => unknown> = {
    'a store that was emptied': ({ store }) => store.flush(),
    'an emptied store that is filled': ({ store }) => [store.flush(), store.start('second'), store.apply(1, 0, 1)],
    'a store put back to an older state': ({ store }) => store.rollBack(),
    'older than an answer it gave, though that was never announced': async ({ store, page }) => {
      store.store(3, 0, 3)
      expect(await page()).toEqual([1, 2, 3])
      store.rollBack()
    },
    'older than what it heard': ({ store }) => [store.apply(3, 0, 3), store.rollBack()],
    'older than news that overtook an answer': async ({ store, page }) => {
      const release = store.hold()
      const overtaken = page()
      store.apply(3, 0, 3)
      release()
      expect(await overtaken).toEqual([1, 2])
      store.rollBack()
    },
    'what may have changed while the connection was lost': ({ store }) => [store.disconnect(), store.connect()],
    'what may have changed until the connection was found again': async ({ store, ends, tracker }) => {
      store.disconnect()
      store.isAway = false
      store.store(3, 0, 3)
      await tracker.look()
      await someTurns()
      ends[0] = 4
      store.connect()
    },
    'a store that was emptied and put back as it was, between two looks': ({ store }) => {
      vi.spyOn(store, 'page').mockImplementationOnce(async (...query) => {
        const { generation } = store
        store.generation = undefined
        const answer = await store.page(...query)
        store.generation = generation
        return answer
      })
    },
    'what is read while the connection is lost and found again': async ({ store, page }) => {
      const release = store.hold()
      const reading = page()
      store.disconnect()
      store.connect()
      release()
      await expect(reading).rejects.toMatchObject(rebuilding)
    },
    'a look on its way when the connection is lost': async ({ store, tracker }) => {
      const release = store.hold()
      tracker.lookSoon()
      await someTurns()
      store.disconnect()
      store.connect()
      release()
    },
    'a generation that was started empty': ({ store }) => [store.start('second'), store.apply(1, 0, 1)],
    'a takeover with less than seen': ({ store }) => [store.apply(3, 0, 3), store.rollBack(), store.takeOver('second')],
    'a takeover while disconnected': ({ store }) => [store.disconnect(), store.takeOver('second'), store.connect()],
    'a takeover from one it never saw': ({ store }) => [store.takeOver('second'), store.takeOver('third')],
    'one generation after the other': ({ store }) => {
      let turn = 0
      vi.spyOn(store, 'page').mockImplementation(async (...query) => {
        store.takeOver(`another ${turn++}`)
        if (turn === 4) vi.mocked(store.page).mockRestore()
        return await ScriptedStore.prototype.page.apply(store, query)
      })
    },
  }
  it.each(Object.entries(cases))('%s, until it is complete again', async (_, setBack) => {
    const world = await openProved()
    await setBack(world)
    for (const limit of [10, 1]) await expect(world.page(limit)).rejects.toMatchObject(rebuilding)
    if (world.store.generation === undefined) world.store.start('filled anew')
    const ids = world.store.ids
    for (const id of [1, 2, 3].filter((each) => !ids.includes(each))) world.store.store(id, 0, 3)
    world.store.next.set(0, world.ends[0] ?? 3)
    world.tracker.lookSoon()
    await world.until('up')
    expect(await world.page()).toEqual([1, 2, 3])
  })

  it('a rollback that only a look finds', async () => {
    const { store, ends, tracker, model } = await openProved()
    ends[0] = 2
    store.rollBack()
    await tracker.look()
    await someTurns()
    expect(model.state.status).toBe('rebuilding')
  })
})

describe('a proven read model continues to answer', () => {
  it.each<[string, (store: ScriptedStore) => void]>([
    ['of a partition that the log lacks', (store) => forge(store, 7, 2)],
    ['beyond the end of the log', (store) => forge(store, 0, 999_999_999_999)],
    ['of a generation that there is not', (store) => forge(store, 0, 3, 'forged')],
    ['of a generation that was never activated', (store) => store.announce(undefined, 'forged')],
  ])('whatever a message says %s', async (_, attack) => {
    const { store, model, page, tracker } = await openProved()
    store.store(3, 0, 3)
    attack(store)
    expect(await page()).toEqual([1, 2, 3])
    await tracker.look()
    expect([await page(), model.state.status]).toEqual([[1, 2, 3], 'up'])
  })

  it.each([0, 7])('what partition %i of the store showed once beyond the log counts no more', async (partition) => {
    const { store, log, tracker, until, page } = await openProved()
    log.endOffsets.mockResolvedValue([2, 0])
    store.next.set(partition, 999_999_999_999)
    expect(await page()).toEqual([1, 2])
    if (partition === 0) store.next.set(0, 2)
    else store.next.delete(partition)
    await expect(page()).rejects.toMatchObject(rebuilding)
    await tracker.look()
    await until('up')
    expect(await page()).toEqual([1, 2])
  })

  it('news that overtakes an answer, or a look, doubts nothing', async () => {
    const { store, log, tracker, model, page } = await openProved()
    const release = store.hold()
    const asked = [page(), page(1)]
    tracker.lookSoon()
    await someTurns()
    store.apply(3, 0, 3)
    store.apply(4, 1, 1)
    release()
    expect(await Promise.all(asked)).toEqual([[1, 2], [1]])
    await someTurns()
    expect(model.state.status).toBe('up')
    expect(await page()).toEqual([1, 2, 3, 4])
    expect(log.endOffsets).not.toHaveBeenCalled()
  })

  it('a generation it knows is served after a lost connection although the log is away', async () => {
    const { store, log, until, page } = await openProved()
    log.endOffsets.mockRejectedValue(new ServiceError('event_log_unavailable', 'away'))
    store.disconnect()
    store.connect()
    await until('up')
    expect(await page()).toEqual([1, 2])
    store.rollBack()
    await expect(page()).rejects.toMatchObject(rebuilding)
  })

  it('a store put back while the connection was lost is not taken for what it was, although the log is away', async () => {
    const { store, log, page, tracker } = await openProved()
    log.endOffsets.mockRejectedValue(new ServiceError('event_log_unavailable', 'away'))
    store.disconnect()
    store.rollBack()
    store.connect()
    await tracker.look()
    await tracker.look()
    await expect(page()).rejects.toMatchObject(rebuilding)
  })

  it('what the log held before the connection was lost again counts no more', async () => {
    const { store, log, until, page } = await openProved()
    const { promise, resolve } = Promise.withResolvers<number[]>()
    log.endOffsets.mockReturnValueOnce(promise)
    store.disconnect()
    store.connect()
    await eventually(() => expect(log.endOffsets).toHaveBeenCalled())
    store.disconnect()
    store.connect()
    resolve([2, 0])
    await someTurns()
    await expect(page()).rejects.toMatchObject(rebuilding)
    store.apply(3, 0, 3)
    await until('up')
  })

  it.each([true, false])('generations that take over one after the other (announced: %s)', async (isAnnounced) => {
    const { store, log, model, page } = await openProved()
    for (const generation of ['second', 'third', 'fourth']) {
      store.takeOver(generation)
      if (isAnnounced) store.announce()
      expect(await page()).toEqual([1, 2])
      expect(model.state).toEqual({ status: 'up', generation })
    }
    expect(log.endOffsets).not.toHaveBeenCalled()
  })

  it('a generation it never met, once the log has said that it is complete', async () => {
    const { store, log, page } = await openProved()
    log.endOffsets.mockImplementation(async () => {
      await someTurns()
      return [2]
    })
    store.takeOver('second')
    store.takeOver('third')
    expect(await page()).toEqual([1, 2])
  })

  it.each(['before', 'while'])('no read fails that began %s another generation took over', async (when) => {
    const { store, model, tracker, page } = await openProved()
    const release = store.hold()
    const reading = when === 'before' ? [page(), page(1)] : []
    store.takeOver('second')
    store.announce()
    await someTurns()
    if (when === 'while') reading.push(page(), page(1))
    release()
    expect(await Promise.all(reading)).toEqual([[1, 2], [1]])
    await tracker.look()
    expect(model.state).toEqual({ status: 'up', generation: 'second' })
  })
})

it('whatever happens to the store, an answer holds every document that was served before', async () => {
  type Step = (world: World & { next: number; applyNext(): void }) => unknown
  const ifThere =
    (step: Step): Step =>
    (world) =>
      world.store.generation && step(world)
  const steps: Record<string, Step> = {
    apply: ifThere(({ applyNext }) => applyNext()),
    'apply unannounced': ifThere(({ store, ends, next }) => {
      store.store(next + 1, 0, next + 1)
      ends[0] = Math.max(ends[0] ?? 0, next + 1)
    }),
    flush: ({ store }) => store.flush(),
    'replay one': ({ store, next, ends, applyNext }) => {
      if (store.generation === undefined) store.start(`generation ${Math.random()}`)
      else if (next < (ends[0] ?? 0)) applyNext()
    },
    'take over': ifThere(({ store }) => store.takeOver(`generation ${Math.random()}`)),
    'roll back': ifThere(({ store, next }) => next > 0 && [store.disconnect(), store.rollBack(), store.connect()]),
    'roll back quietly': ifThere(({ store, next }) => next > 0 && store.rollBack()),
    'lose one': ({ store }) => {
      store.ids = store.ids.slice(1)
    },
    blip: ({ store }) => [store.disconnect(), store.connect()],
    read: () => {},
  }
  const script = fc.array(
    fc.record({
      step: fc.constantFrom(...Object.keys(steps)),
      limit: fc.constantFrom(1, 2, 1000),
      isOvertaken: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  await fc.assert(
    fc.asyncProperty(script, async (script) => {
      const world = openProven([0])
      const { store, ends, model, tracker, page } = world
      while (model.state.status !== 'up') await someTurns()
      let known: number[] = []
      for (const { step, limit, isOvertaken } of script) {
        const next = store.next.get(0) ?? 0
        const applyNext = () => {
          ends[0] = Math.max(ends[0] ?? 0, next + 1)
          store.apply(next + 1, 0, next + 1)
        }
        const release = isOvertaken ? store.hold() : () => {}
        const overtaken = isOvertaken ? page(limit).catch(refused) : undefined
        await steps[step]?.({ ...world, next, applyNext })
        release()
        const before = known
        for (const answer of [await overtaken, await page(limit).catch(refused)]) {
          if (answer === undefined) continue
          expect(answer).toEqual(expect.arrayContaining(before.slice(0, limit)))
          if (answer.length > known.length) known = answer
        }
      }
      model.close()
      await tracker.close()
    }),
    { numRuns: 200 },
  )
})

function forge(store: ScriptedStore, partition: number, next: number, generation?: string): void {
  store.announce({ partition, from: 3, next, withoutEffect: [] }, generation)
}

function refused(error: ServiceError): undefined {
  expect(error.code).toBe('read_model_rebuilding')
}
