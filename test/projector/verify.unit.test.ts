import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/lib/errors.ts'
import { rebuild } from '../../src/projector/rebuild.ts'
import { recordOf } from './log-model.ts'
import { adjustableClock } from './rebuilding.ts'
import { everyKind, startVerify, worldOfEveryKind } from './verifying.ts'
import {
  countedPets as definition,
  disturbed,
  everything,
  logger,
  openWorld,
  silentAtFirst,
  somePets,
  underEpoch,
  until,
  untilCaughtUp,
  withMethods,
} from './world.ts'

describe('verify', () => {
  it('finds nothing in read models as they should be, and says how much it looked at', async () => {
    const world = await worldOfEveryKind()
    const found = await everything(world.store)
    const { differences, compared, generation } = await startVerify(world)
    expect(differences).toEqual([])
    expect(generation).toBe((await world.store.active())?.name)
    // Each pet stands in the collection and one index; one decision, three parked events, one partition.
    expect(compared).toBe(2 * (found?.documents.held ?? 0) + 1 + 3 + 1)
  })

  it('finds nothing in an empty one', async () => {
    const world = openWorld()
    await world.start({ definition })
    await expect.poll(() => world.store.active(), until).toBeDefined()
    expect((await startVerify(world)).differences).toEqual([])
  })

  it('finds nothing while writes go on all the time, over several chunks', async () => {
    const world = openWorld()
    for (let from = 100_000; from < 102_500; from += 500) await world.append(somePets(from, 500))
    await world.start({ definition })
    await untilCaughtUp(world)
    let done = false
    const writing = (async () => {
      for (let turn = 0; !done; turn++) {
        const [end = 0] = await world.log.ends()
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

  it('misses no parked event that is discarded while those that are missing are looked for', async () => {
    const world = await worldOfEveryKind()
    world.sql('DELETE FROM parked WHERE record_offset = 6')
    await world.start({ definition })
    let isDiscarded = false
    const store = disturbed(world.store, async (method) => {
      if (method !== 'parkedAt' || isDiscarded) return
      isDiscarded = true
      await world.append([recordOf({ kind: 'discard', subject: '1', target: 4 })])
      await untilCaughtUp(world)
    })
    const { differences } = await startVerify({ log: world.log, store })
    expect(isDiscarded).toBe(true)
    expect(differences.map(({ where, id }) => `${where} ${id}`)).toEqual(['parked event 0/6', 'size parked events'])
  })

  it('ends with an error when another generation takes over meanwhile', async () => {
    const world = await worldOfEveryKind()
    let taken = false
    const store = disturbed(world.store, async (method) => {
      if (method !== 'entries' || taken) return
      taken = true
      await rebuild({ ...world, definition, group: 'rebuild', logger })
    })
    await expect(startVerify({ log: world.log, store })).rejects.toMatchObject({ name: 'VerifyError' })
  })

  it('ends with an error when the positions go back meanwhile', async () => {
    const world = await worldOfEveryKind()
    const store = disturbed(world.store, (method) => {
      if (method === 'entries') world.sql(`UPDATE checkpoint SET checkpoint = json_set(checkpoint, '$[0]', 1)`)
    })
    await expect(startVerify({ log: world.log, store })).rejects.toMatchObject({ name: 'VerifyError' })
  })

  it('ends with an error where there is nothing to verify', async () => {
    const world = openWorld()
    await expect(startVerify(world)).rejects.toMatchObject({ name: 'NoReadModelsError' })
    const [filled, other] = [await worldOfEveryKind(), openWorld()]
    await expect(startVerify({ log: other.log, store: filled.store })).rejects.toMatchObject({ name: 'MismatchError' })
  })

  it('ends with an error when the log ends before the read models do', async () => {
    const [world, shorter] = [await worldOfEveryKind(), openWorld()]
    await shorter.append(everyKind(1, 0))
    const log = underEpoch(world.log.epoch, shorter.log)
    await expect(startVerify({ log, store: world.store })).rejects.toMatchObject({ name: 'MismatchError' })
  })

  it('asks again where log or read models do not answer at once', async () => {
    const world = await worldOfEveryKind()
    const [ends, store] = [vi.fn(world.log.ends.bind(world.log)), silentAtFirst(world.store)]
    ends.mockRejectedValueOnce(new ServiceError('event_log_unavailable', 'away'))
    const { differences, compared } = await startVerify({ log: withMethods(world.log, { ends }), store })
    const undisturbed = await startVerify(world)
    expect([differences, compared]).toEqual([undisturbed.differences, undisturbed.compared])
  })

  it.each([['event_log_unavailable'], ['read_model_unavailable']] as const)(
    'says %s when it stays away',
    async (code) => {
      const world = await worldOfEveryKind()
      const skipTime = adjustableClock()
      const away = () => {
        skipTime(16_000)
        throw new ServiceError(code, 'away')
      }
      const log = code === 'event_log_unavailable' ? withMethods(world.log, { ends: async () => away() }) : world.log
      const store = disturbed(world.store, (method) => {
        if (code === 'read_model_unavailable' && method === 'decisions') away()
      })
      await expect(startVerify({ log, store })).rejects.toMatchObject({ code })
    },
  )
})
