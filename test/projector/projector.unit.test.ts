import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../src/lib/errors.ts'
import { foreignRecord, petCreated, record } from './records.ts'
import {
  contents,
  disturbed,
  type Method,
  openWorld,
  somePets,
  underEpoch,
  undisturbed,
  until,
  untilCaughtUp,
} from './world.ts'

describe('the projector', () => {
  it('applies what is in the log and what comes, across batches and applies', async () => {
    const world = openWorld()
    for (let i = 0; i < 3; i++) await world.append(somePets(1 + i * 900, 900))
    await world.start()
    await world.append(somePets(5000, 3))
    await untilCaughtUp(world)
    const { documents, sold, state } = await contents(world.store)
    expect([documents.count, sold.count]).toEqual([2703, 1351])
    expect(JSON.parse(`[${documents.documents}]`)).toHaveLength(2703)
    expect(state?.checkpoint).toMatchObject({ next: 2703, applied: 2703 })
  })

  it('heals an emptied store although nothing is written', async () => {
    const world = openWorld()
    await world.append(somePets(1, 20))
    await world.start()
    await untilCaughtUp(world)
    const before = { ...(await contents(world.store)), generation: await world.store.active() }
    world.flush()
    await untilCaughtUp(world)
    expect(await contents(world.store)).toEqual({ ...before, generation: undefined })
    expect((await world.store.active())?.name).not.toBe(before.generation?.name)
  })

  it('heals a store that was put back to an older state although nothing is written', async () => {
    const world = openWorld()
    await world.append(somePets(1, 20))
    await world.start()
    await untilCaughtUp(world)
    const { restore } = world.snapshot()
    await world.append(somePets(21, 20))
    await untilCaughtUp(world)
    const before = await contents(world.store)
    restore()
    await untilCaughtUp(world)
    expect(await contents(world.store)).toEqual(before)
  })

  it('waits while the store does not answer, and goes on when it does', async () => {
    const world = openWorld()
    let away = true
    const store = disturbed(world.store, (method) => {
      if (away && method !== 'listen') throw new ServiceError('read_model_unavailable', 'away')
    })
    await world.append(somePets(1, 5))
    const projector = await world.start({ store })
    await vi.waitFor(() => expect(projector.state.status).toBe('waiting'), until)
    away = false
    await untilCaughtUp(world)
    await vi.waitFor(() => expect(projector.state).toEqual({ status: 'up', partitions: [0] }), until)
  })

  it.each([
    ['holds other records', 20],
    ['is longer', 30],
    ['is shorter', 5],
    ['ends one record earlier', 19],
    ['is empty', 0],
  ])('starts a generation when the log %s than the one it knew', async (_, count) => {
    const world = openWorld()
    await world.append(somePets(1, 20))
    await world.start()
    await untilCaughtUp(world)
    await world.stop()
    // The epoch stays: as when the tail of the log was lost and other events came in its place.
    const other = openWorld()
    if (count > 0) await other.append(somePets(count === 19 ? 1 : 101, count))
    await world.start({ log: underEpoch(world.log.epoch, other.log) })
    const expected = await undisturbed(other.log)
    await vi.waitFor(async () => expect(await contents(world.store)).toEqual(expected), until)
  })

  it('starts a generation when the log has another epoch', async () => {
    const world = openWorld()
    await world.append(somePets(1, 3))
    await world.start()
    await untilCaughtUp(world)
    await world.stop()
    const other = openWorld()
    await other.append(somePets(1, 3))
    await world.start({ log: other.log })
    await vi.waitFor(async () => expect((await world.store.active())?.epoch).toBe(other.log.epoch), until)
    await untilCaughtUp({ log: other.log, store: world.store })
  })

  it('whatever is in the log and whatever disturbs it, the read models are those of an undisturbed run', async () => {
    const ids = fc.integer({ min: 1, max: 12 })
    const anyRecord = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.tuple(ids, ids).map(([id, event]) => petCreated(0, { id, name: `${event}` }, `event ${event}`)),
      },
      { weight: 1, arbitrary: fc.constant(record(0, null)) },
      { weight: 1, arbitrary: fc.constant(record(0, 'garbage', 'key')) },
      { weight: 1, arbitrary: ids.map((id) => foreignRecord(0, { type: 'petstore.PetCreated.v9', subject: `${id}` })) },
    )
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .array(anyRecord, { minLength: 1, maxLength: 8 })
          .map((records) => ({ kind: 'append' as const, records })),
      },
      ...(
        [
          'restart',
          'second projector',
          'flush',
          'snapshot',
          'restore',
          'lose replies',
          'fail applies',
          'be late',
        ] as const
      ).map((kind) => ({
        weight: 1,
        arbitrary: fc.constant({ kind }),
      })),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (script) => {
        const world = openWorld()
        let fault: string | undefined
        let old: { restore: () => void } | undefined
        const store = disturbed(
          world.store,
          faultOnce(() => {
            const now = fault
            fault = undefined
            return now
          }),
        )
        await world.start({ store })
        for (const each of script) {
          if (each.kind === 'append') await world.append(each.records)
          else if (each.kind === 'restart') await world.stop().then(() => world.start({ store }))
          else if (each.kind === 'second projector') await world.start({ store })
          else if (each.kind === 'flush') world.flush()
          else if (each.kind === 'snapshot') old = world.snapshot()
          else if (each.kind === 'restore') old?.restore()
          else fault = each.kind
        }
        await untilCaughtUp(world)
        expect(await contents(world.store)).toEqual(await undisturbed(world.log))
        await world.close()
      }),
      { numRuns: 60 },
    )
  }, 120_000)
})

/** The fault in waiting strikes the next apply. */
function faultOnce(next: () => string | undefined) {
  return (method: Method): void | (() => void | Promise<void>) => {
    if (method !== 'apply') return undefined
    const lost = () => new ServiceError('read_model_unavailable', 'lost')
    switch (next()) {
      case 'fail applies':
        throw lost()
      case 'lose replies':
        return () => {
          throw lost()
        }
      case 'be late':
        return () => new Promise((resolve) => setTimeout(resolve, 30))
    }
    return undefined
  }
}
