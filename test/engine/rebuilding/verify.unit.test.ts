import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { noReadModels, ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { eventually } from '../../lib/eventually.ts'
import { everything } from '../projector/projecting.ts'
import { discard, newerEvent } from '../projector/records.ts'
import {
  disturbed,
  openWorld,
  silentAtFirst,
  someSeats,
  underLogId,
  untilCaughtUp,
  withMethods,
} from '../projector/world.ts'
import { adjustableClock, startRebuild } from './rebuilding.ts'
import { everyKind, startVerify, worldOfEveryKind } from './verifying.ts'

describe('verify', () => {
  it('finds nothing in read models as they should be, and says how much it looked at', async () => {
    const world = await worldOfEveryKind()
    const found = await everything(world.store)
    const progress = vi.fn()
    const { differences, compared, generation } = await startVerify(world, { progress })
    expect(differences).toEqual([])
    expect(progress.mock.calls[0]).toEqual(['replay', 0, 24])
    expect(progress).toHaveBeenLastCalledWith('compare', compared, compared)
    expect(generation).toBe((await world.store.generations.active())?.name)
    expect(compared).toBe(found.sizes.reduce((sum, [, size]) => sum + size, 1)) // and the checkpoint
  })

  it('finds nothing in an empty one', async () => {
    const world = openWorld()
    await world.start()
    await eventually(async () => expect(await world.store.generations.active()).toBeDefined())
    expect((await startVerify(world)).differences).toEqual([])
  })

  it('finds nothing while writes go on all the time, over several chunks', async () => {
    const world = openWorld()
    for (let from = 100_000; from < 102_500; from += 500) await world.append(someSeats(from, 500))
    await world.start()
    await untilCaughtUp(world)
    let done = false
    const writing = (async () => {
      for (let turn = 0; !done; turn++) {
        const [end = 0] = await world.log.endOffsets()
        await world.append(everyKind(1 + turn * 10, end)) // below and between what was compared
        await nextTurn()
      }
    })()
    const { differences, compared } = await startVerify(world)
    done = true
    await writing
    expect(differences).toEqual([])
    expect(compared).toBeGreaterThan(5000)
  })

  it('leaves a turn of the event loop to everything else with each page', async () => {
    const world = await worldOfEveryKind()
    let turn = 0
    let isDone = false
    const counting = (async () => {
      for (; !isDone; turn++) await nextTurn()
    })()
    const turns: number[] = []
    await startVerify(world, { progress: (step) => void (step === 'compare' && turns.push(turn)) })
    isDone = true
    await counting
    expect(turns.length).toBeGreaterThan(8)
    expect(new Set(turns).size).toBeGreaterThanOrEqual(turns.length - 1) // the sizes come behind the last page
  })

  it('misses no parked event that is discarded while those that are missing are looked for', async () => {
    const world = await worldOfEveryKind()
    world.sql(`DELETE FROM text WHERE name = 'parked' AND id = '4'`)
    await world.start()
    await world.append([newerEvent('50', 1)])
    await untilCaughtUp(world)
    let isDiscarded = false
    const store = disturbed(world.store, async (method) => {
      if (method !== 'find' || isDiscarded) return
      isDiscarded = true
      await world.append([discard('50', 24)])
      await untilCaughtUp(world)
    })
    const { differences } = await startVerify({ log: world.log, store })
    expect(isDiscarded).toBe(true)
    expect(differences.map(({ where, id }) => `${where} ${id}`)).toEqual(['parked 4', 'size parked'])
  })

  it('ends with an error when another generation takes over meanwhile', async () => {
    const world = await worldOfEveryKind()
    let taken = false
    const store = disturbed(world.store, async (method) => {
      if (method !== 'scan' || taken) return
      taken = true
      await startRebuild(world)
    })
    await expect(startVerify({ log: world.log, store })).rejects.toMatchObject({ name: 'VerifyError' })
  })

  it('ends with an error when the positions go back meanwhile', async () => {
    const world = await worldOfEveryKind()
    const store = disturbed(world.store, (method) => {
      if (method === 'scan') world.sql(`UPDATE checkpoint SET checkpoint = '[1,0,"x",1,0,0,0,0,0]'`)
    })
    await expect(startVerify({ log: world.log, store })).rejects.toMatchObject({ name: 'VerifyError' })
  })

  it('ends with an error where there is nothing to verify', async () => {
    const world = openWorld()
    await expect(startVerify(world)).rejects.toThrow(noReadModels)
    const [filled, other] = [await worldOfEveryKind(), openWorld()]
    await expect(startVerify({ log: other.log, store: filled.store })).rejects.toMatchObject({ name: 'MismatchError' })
  })

  it('ends with an error when the log ends before the read models do', async () => {
    const [world, shorter] = [await worldOfEveryKind(), openWorld()]
    await shorter.append(everyKind(1, 0))
    const log = underLogId(world.log.logId, shorter.log)
    await expect(startVerify({ log, store: world.store })).rejects.toMatchObject({ name: 'MismatchError' })
  })

  it('asks again where read models do not answer at once', async () => {
    const world = await worldOfEveryKind()
    const { differences, compared } = await startVerify({ log: world.log, store: silentAtFirst(world.store) })
    const undisturbed = await startVerify(world)
    expect([differences, compared]).toEqual([undisturbed.differences, undisturbed.compared])
  })

  it.each([['event_log_unavailable'], ['read_model_unavailable']] as const)(
    'asks again, and says %s when it stays away',
    async (code) => {
      const world = await worldOfEveryKind()
      const skipTime = adjustableClock()
      const away = vi.fn(() => {
        skipTime(16_000)
        throw new ServiceError(code, 'away')
      })
      const isLog = code === 'event_log_unavailable'
      const store = disturbed(world.store, (method) => {
        if (!isLog && method === 'scan') away()
      })
      const log = isLog ? withMethods(world.log, { read: async () => away() }) : world.log
      await expect(startVerify({ log, store })).rejects.toMatchObject({ code })
      expect(away.mock.calls.length).toBeGreaterThan(1)
    },
  )
})
