import { describe, expect, it } from 'vitest'
import { Differences } from '../../../src/engine/rebuilding/differences.ts'
import { openWorld, someSeats, untilCaughtUp } from '../projector/world.ts'
import { startVerify } from './verifying.ts'

const difference = (id: number, text = 'x') => ({ where: 'seats', id: String(id), expected: undefined, found: text })

function differencesOf(ids: number, text?: string): Differences {
  const differences = new Differences()
  for (let id = 0; id < ids; id++) differences.add(difference(id, text))
  return differences
}

describe('differences', () => {
  it('are all kept up to 1,000; all are counted, and the first ones kept', () => {
    const { kept, count } = differencesOf(1000)
    expect([kept.length, count]).toEqual([1000, 1000])
    const more = differencesOf(2500)
    expect([more.kept, more.count]).toEqual([kept, 2500])
  })

  it('of long texts are kept up to 16 million characters, and the first one however long it is', () => {
    const { kept, count } = differencesOf(100, 'x'.repeat(1_000_000))
    expect([kept.length, count]).toEqual([16, 100])
    const long = differencesOf(2, 'x'.repeat(20_000_000))
    expect([long.kept.length, long.count]).toEqual([1, 2])
  })

  it('count once where an item is read twice, kept or not', () => {
    const differences = differencesOf(2500)
    for (const id of [0, 999, 1000, 2499]) differences.add(difference(id, 'another'))
    expect(differences.count).toBe(2500)
    differences.add({ ...difference(0), where: 'bookings' })
    expect(differences.count).toBe(2501)
  })

  it('remember each place, kept or not', () => {
    const differences = differencesOf(1000)
    differences.add({ ...difference(0), where: 'bookings' })
    expect(['seats', 'bookings', 'rows'].map((where) => differences.isAnyIn(where))).toEqual([true, true, false])
  })
})

it('verify counts all differences, and finds what is missing behind the first 1,000', async () => {
  const world = openWorld()
  await world.append(someSeats(1, 1200))
  await world.start()
  await untilCaughtUp(world)
  await world.stop()
  const seats = world.tableOf('seats')
  const sold = world.tableOf('seats:status:sold')
  world.sql(`UPDATE ${seats} SET behind = '7' || behind; UPDATE ${sold} SET id = 5001 WHERE id = 2`)
  const { differences, differenceCount } = await startVerify(world)
  expect(differences).toHaveLength(1000)
  expect(differenceCount).toBe(1202)
})
