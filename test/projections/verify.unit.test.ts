import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { rebuild } from '../../projections/rebuild.ts'
import { type VerifyOptions, verify } from '../../projections/verify.ts'
import { ServiceError } from '../../src/errors.ts'
import type { LogRecord } from '../../src/event-log/event-log.ts'
import type { PetEvent } from '../../src/pets/pet-created.ts'
import { openSqliteReadModels } from '../../src/read-models/sqlite/sqlite-read-models.ts'
import { recordOf } from './log-model.ts'
import { adjustableClock } from './rebuilding.ts'
import { foreignRecord, petCreated, record } from './records.ts'
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

type World = ReturnType<typeof openWorld>

function startVerify({ log, store }: Pick<World, 'log' | 'store'>, over: Partial<VerifyOptions<PetEvent>> = {}) {
  const scratch = openSqliteReadModels({ file: ':memory:', version: 'scratch' })
  onTestFinished(() => scratch.close())
  return verify({ log, store, scratch, definition, group: 'verify', logger, ...over })
}

/** Of every kind: applied, keyed, repeated, parked, parked behind, skipped, discarded. Ids begin at `id`. */
function everyKind(id: number, offset: number): LogRecord[] {
  return [
    petCreated(0, { id }),
    petCreated(1, { id: id + 1, status: 'sold' }, `keyed ${id}`, { key: `key ${id}`, fingerprint: 'f' }),
    petCreated(2, { id: id + 2 }, `keyed ${id}`, { key: `key ${id}`, fingerprint: 'f' }),
    petCreated(3, { id }),
    petCreated(4, { id }, `another ${id}`),
    foreignRecord(5, { type: 'petstore.PetCreated.v9', subject: `${id + 3}` }),
    petCreated(6, { id: id + 3 }),
    record(7, 'garbage'),
    foreignRecord(8, { type: 'petstore.PetCreated.v9', subject: `${id + 4}` }),
    petCreated(9, { id: id + 4 }),
    recordOf({ kind: 'discard', subject: `${id + 4}`, target: offset + 8 }),
  ]
}

async function filledWorld(): Promise<World> {
  const world = openWorld()
  await world.append(everyKind(1, 0))
  await world.append(somePets(100, 10))
  await world.start({ definition })
  await untilCaughtUp(world)
  await world.stop()
  return world
}

describe('verify', () => {
  it('finds nothing in read models as they should be, and says how much it looked at', async () => {
    const world = await filledWorld()
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

  const damages: [string, string, { where: string; id: string; expected?: unknown; found?: unknown }[]][] = [
    [
      'a document changed',
      `UPDATE collection_1 SET document = replace(document, 'pet 101', 'pest') WHERE id = 101`,
      [
        {
          where: 'document',
          id: '101',
          expected: expect.stringContaining('pet 101'),
          found: expect.stringContaining('pest'),
        },
      ],
    ],
    [
      'the tag of a document changed',
      `UPDATE collection_1 SET tag = 'abcdefghijkl' WHERE id = 101`,
      [
        {
          where: 'document',
          id: '101',
          expected: expect.stringMatching(/}/),
          found: expect.stringMatching(/}abcdefghijkl$/),
        },
      ],
    ],
    [
      'a document deleted',
      'DELETE FROM collection_1 WHERE id = 101',
      [
        { where: 'document', id: '101', expected: expect.stringContaining('pet 101'), found: undefined },
        { where: 'size', id: 'documents', expected: '13 of 13', found: '12 of 13' },
      ],
    ],
    [
      'the last document deleted',
      'DELETE FROM collection_1 WHERE id = 109',
      [
        { where: 'document', id: '109', expected: expect.stringContaining('pet 109'), found: undefined },
        { where: 'size', id: 'documents' },
      ],
    ],
    [
      'an index entry added',
      `INSERT INTO collection_2 SELECT 101, document, NULL FROM collection_1 WHERE id = 101`,
      [
        { where: 'index status:available', id: '101', expected: undefined, found: expect.stringContaining('pet 101') },
        { where: 'size', id: 'index status:available' },
      ],
    ],
    [
      'an index entry deleted',
      'DELETE FROM collection_3 WHERE id = 101',
      [
        { where: 'index status:sold', id: '101', expected: expect.stringContaining('pet 101'), found: undefined },
        { where: 'size', id: 'index status:sold' },
      ],
    ],
    [
      'a whole index deleted',
      `DELETE FROM collection WHERE name = 'index:status:sold'`,
      [
        ...[2, 101, 103, 105, 107, 109].map((id) => ({ where: 'index status:sold', id: `${id}`, found: undefined })),
        { where: 'size', id: 'index status:sold' },
      ],
    ],
    [
      'how many were added changed',
      `UPDATE collection SET added = added + 1 WHERE name = 'documents'`,
      [{ where: 'size', id: 'documents', expected: '13 of 13', found: '13 of 14' }],
    ],
    [
      'a decision changed',
      `UPDATE decision SET decision = '1 f 77'`,
      [{ where: 'decision', id: 'key 1', expected: '1 f 2', found: '1 f 77' }],
    ],
    [
      'a decision deleted',
      'DELETE FROM decision',
      [
        { where: 'decision', id: 'key 1', expected: '1 f 2', found: undefined },
        { where: 'size', id: 'decisions', expected: '1', found: '0' },
      ],
    ],
    [
      'a decision added',
      `INSERT INTO decision SELECT generation, 'other', decision FROM decision`,
      [
        { where: 'decision', id: 'other', expected: undefined, found: '1 f 2' },
        { where: 'size', id: 'decisions', expected: '1', found: '2' },
      ],
    ],
    [
      'a decision under another key',
      `UPDATE decision SET key = 'other'`,
      [
        { where: 'decision', id: 'other', expected: undefined, found: '1 f 2' },
        { where: 'decision', id: 'key 1', expected: '1 f 2', found: undefined },
      ],
    ],
    [
      'a counter changed',
      `UPDATE counter SET count = count + 1 WHERE name = 'pets:status:sold'`,
      [{ where: 'counter', id: 'pets:status:sold', expected: '6', found: '7' }],
    ],
    [
      'a parked event deleted',
      'DELETE FROM parked WHERE record_offset = 6',
      [
        { where: 'parked event', id: '0/6', expected: expect.stringContaining('an earlier event'), found: undefined },
        { where: 'size', id: 'parked events', expected: '3', found: '2' },
      ],
    ],
    [
      'a parked event changed',
      `UPDATE parked SET reason = 'none' WHERE record_offset = 6`,
      [
        {
          where: 'parked event',
          id: '0/6',
          expected: expect.stringContaining('an earlier event'),
          found: expect.stringContaining('none'),
        },
      ],
    ],
    [
      'a parked event at another place',
      'UPDATE parked SET record_offset = 7 WHERE record_offset = 6',
      [
        { where: 'parked event', id: '0/7', expected: undefined, found: expect.stringContaining('an earlier event') },
        { where: 'parked event', id: '0/6', expected: expect.stringContaining('an earlier event'), found: undefined },
      ],
    ],
    [
      'the counts of a checkpoint changed',
      `UPDATE checkpoint SET checkpoint = replace(checkpoint, ',13,', ',12,')`,
      [
        {
          where: 'checkpoint of partition',
          id: '0',
          expected: expect.stringContaining(',13,'),
          found: expect.stringContaining(',12,'),
        },
      ],
    ],
  ]

  it.each(damages)('finds %s, and nothing else', async (_, damage, differences) => {
    const world = await filledWorld()
    world.sql(damage)
    const { differences: found } = await startVerify(world)
    expect(found.map(({ where, id }) => `${where} ${id}`).sort()).toEqual(
      differences.map(({ where, id }) => `${where} ${id}`).sort(),
    )
    for (const difference of differences) expect(found).toContainEqual(expect.objectContaining(difference))
  })

  it('misses no parked event that is discarded while those that are missing are looked for', async () => {
    const world = await filledWorld()
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
    const world = await filledWorld()
    let taken = false
    const store = disturbed(world.store, async (method) => {
      if (method !== 'entries' || taken) return
      taken = true
      await rebuild({ ...world, definition, group: 'rebuild', logger })
    })
    await expect(startVerify({ log: world.log, store })).rejects.toMatchObject({ name: 'VerifyError' })
  })

  it('ends with an error when the positions go back meanwhile', async () => {
    const world = await filledWorld()
    const store = disturbed(world.store, (method) => {
      if (method === 'entries') world.sql(`UPDATE checkpoint SET checkpoint = json_set(checkpoint, '$[0]', 1)`)
    })
    await expect(startVerify({ log: world.log, store })).rejects.toMatchObject({ name: 'VerifyError' })
  })

  it('ends with an error where there is nothing to verify', async () => {
    const world = openWorld()
    await expect(startVerify(world)).rejects.toMatchObject({ name: 'NoReadModelsError' })
    const [filled, other] = [await filledWorld(), openWorld()]
    await expect(startVerify({ log: other.log, store: filled.store })).rejects.toMatchObject({ name: 'MismatchError' })
  })

  it('ends with an error when the log ends before the read models do', async () => {
    const [world, shorter] = [await filledWorld(), openWorld()]
    await shorter.append(everyKind(1, 0))
    const log = underEpoch(world.log.epoch, shorter.log)
    await expect(startVerify({ log, store: world.store })).rejects.toMatchObject({ name: 'MismatchError' })
  })

  it('asks again where log or read models do not answer at once', async () => {
    const world = await filledWorld()
    const [ends, store] = [vi.fn(world.log.ends.bind(world.log)), silentAtFirst(world.store)]
    ends.mockRejectedValueOnce(new ServiceError('event_log_unavailable', 'away'))
    const { differences, compared } = await startVerify({ log: withMethods(world.log, { ends }), store })
    const undisturbed = await startVerify(world)
    expect([differences, compared]).toEqual([undisturbed.differences, undisturbed.compared])
  })

  it.each([['event_log_unavailable'], ['read_model_unavailable']] as const)(
    'says %s when it stays away',
    async (code) => {
      const world = await filledWorld()
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
