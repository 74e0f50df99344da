import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { openSqliteReadModels } from '../../../src/engine/read-models/sqlite/sqlite-read-models.ts'
import { eventually } from '../../lib/eventually.ts'
import { everything } from '../projector/projecting.ts'
import { disturbed, openWorld, silentAtFirst, someSeats, underLogId, withMethods } from '../projector/world.ts'
import { theatre } from '../theatre/theatre.ts'
import { adjustableClock, filledWorld, growingLog, interrupted, names, startRebuild } from './rebuilding.ts'

/** The shortest time for which a configuration has what is being built kept without renewal. */
const leastGraceMs = 5000

describe('a rebuild that is disturbed', () => {
  it.each([
    ['have changed', 3, 'holds another record'],
    ['are gone', 1, 'ends before its position'],
  ])('gives up if the records it was built from %s, and removes everything', async (_, appends, message) => {
    const world = await filledWorld(2600)
    await interrupted(world)
    const other = openWorld()
    for (let turn = 0; turn < appends; turn++) await other.append(someSeats(5000 + turn * 900, 900))
    const before = await names(world)
    const log = underLogId(world.log.logId, other.log)
    await expect(startRebuild({ log, store: world.store })).rejects.toMatchObject({
      name: 'RebuildError',
      message: expect.stringContaining(message),
    })
    expect(await names(world)).toEqual(before.filter(({ state }) => state === 'active'))
  })

  it('gives up when what it builds is removed meanwhile', async () => {
    const world = await filledWorld(2600)
    const active = await names(world)
    const store = disturbed(world.store, (method) => {
      if (method !== 'apply') return undefined
      return async () => {
        for (const { name } of await world.store.generations.all()) await world.store.generations.remove(name)
      }
    })
    await expect(startRebuild({ log: world.log, store })).rejects.toMatchObject({ name: 'RebuildError' })
    expect(await names(world)).toEqual(active)
  })

  it('takes over from a generation with a position that the log does not have', async () => {
    const world = await filledWorld(5)
    const [before] = await names(world)
    world.sql('UPDATE checkpoint SET checkpoint = \'[999,998,"of nowhere",5,0,0,0,0,0]\'')
    expect(await startRebuild(world)).toBe('activated')
    const [active] = await names(world)
    expect([active?.state, active?.name === before?.name]).toEqual(['active', false])
    expect(await everything(world.store)).toEqual(await everything((await filledWorld(5)).store))
  })

  it('gives up on an incomplete generation', async () => {
    const world = await filledWorld(5)
    const before = await names(world)
    const store = disturbed(world.store, (method) => {
      return method === 'apply' ? () => world.sql('DELETE FROM collection_4 WHERE id = 3') : undefined
    })
    await expect(startRebuild({ log: world.log, store })).rejects.toMatchObject({ name: 'RebuildError' })
    expect(await names(world)).toEqual(before)
  })

  it('gives up when the store refuses a batch because the generation is incomplete', async () => {
    const world = await filledWorld(5)
    const before = await names(world)
    const apply = async () => ({ outcome: 'incomplete' }) as const
    const store = { ...world.store, projection: { ...world.store.projection, apply } }
    await expect(startRebuild({ log: world.log, store })).rejects.toMatchObject({
      name: 'RebuildError',
      message: expect.stringContaining('it is incomplete'),
    })
    expect(await names(world)).toEqual(before)
  })

  it('never removes the generation that another rebuild started after its own was removed', async () => {
    const world = await filledWorld(5)
    const other = { name: 'of another rebuild', logId: world.log.logId }
    const skipTime = adjustableClock()
    let looks = 0
    const store = disturbed(world.store, async (method) => {
      if (method === 'apply') throw new ServiceError('read_model_unavailable', 'never gets anywhere')
      if (method !== 'checkpoints' || looks++ > 0) return
      for (const { name } of await world.store.generations.all()) await world.store.generations.remove(name)
      await world.store.generations.build(other)
      skipTime(6000) // it is time to say that the rebuild still goes on
    })
    await expect(startRebuild({ log: world.log, store })).rejects.toMatchObject({ name: 'RebuildError' })
    expect(await names(world)).toContainEqual({ name: other.name, state: 'building' })
  })

  it('keeps what it builds from the retention of other processes, however long it waits', async () => {
    const world = await filledWorld(5)
    const { log, add } = growingLog(world, () => world.log.endOffsets())
    add(someSeats(1, 5).slice(0, 3))
    const other = openSqliteReadModels({
      file: join(world.path, 'read-models.db'),
      version: 'test',
      names: theatre.names,
    })
    onTestFinished(() => other.close())
    const skipTime = adjustableClock()
    const [progress, stop] = [vi.fn(), new AbortController()]
    onTestFinished(() => stop.abort())
    const rebuilding = startRebuild({ log, store: world.store }, { progress, signal: stop.signal })
    for (let passed = 0; passed < 3 * leastGraceMs; passed += 4000) {
      const looks = progress.mock.calls.length
      // The first look may have begun before: with the third, the second is over.
      await eventually(() => expect(progress.mock.calls.length).toBeGreaterThanOrEqual(looks + 3))
      expect(await other.generations.prune(leastGraceMs)).toEqual([])
      skipTime(4000)
    }
    add(someSeats(1, 5).slice(3))
    expect(await rebuilding).toBe('activated')
  })

  it('waits for a store and a log that do not answer for a while', async () => {
    const world = await filledWorld(2600)
    const before = await everything(world.store)
    const endOffsets = vi.fn(world.log.endOffsets.bind(world.log))
    for (let i = 0; i < 5; i++) endOffsets.mockRejectedValueOnce(new ServiceError('event_log_unavailable', 'away'))
    const store = silentAtFirst(world.store)
    expect(await startRebuild({ log: withMethods(world.log, { endOffsets }), store })).toBe('activated')
    expect(await everything(world.store)).toEqual(before)
  }, 20_000)

  it.each([
    ['the store stays away', 'read_model_unavailable', 'apply'],
    ['the log cannot say how long it is', 'event_log_unavailable', 'endOffsets'],
    ['the log cannot be read', 'event_log_unavailable', 'read'],
  ] as const)('ends with an error when %s', async (_, code, silent) => {
    const world = await filledWorld(5)
    const skipTime = adjustableClock()
    const away = () => {
      skipTime(16_000)
      throw new ServiceError(code, 'away')
    }
    const store = disturbed(world.store, (method) => (method === silent ? away() : undefined))
    const log = silent === 'apply' ? world.log : withMethods(world.log, { [silent]: async () => away() })
    await expect(startRebuild({ log, store })).rejects.toMatchObject({ code })
  })
})
