import { describe, expect, it } from 'vitest'
import { outcomesOf } from './projecting.ts'
import { type AnyRecord, altered, orderEvent, petCreated } from './records.ts'

const [pet, order] = [5, 12]
const created = petCreated({ id: pet })
const placed = orderEvent('OrderPlaced', pet, order, 2)
const approved = orderEvent('OrderApproved', pet, order, 3)
const delivered = orderEvent('OrderDelivered', pet, order, 4)
const cancelled = orderEvent('OrderCancelled', pet, order, 4)

/** An event of each type, and the history that it can follow. */
const events: readonly [type: string, before: readonly AnyRecord[], event: AnyRecord][] = [
  ['PetCreated', [], created],
  ['OrderPlaced', [created], placed],
  ['OrderApproved', [created, placed], approved],
  ['OrderDelivered', [created, placed, approved], delivered],
  ['OrderCancelled', [created, placed, approved], cancelled],
]

describe('an event that could follow, with a version that is not the next one, is superseded', () => {
  it.each(events)('%s', async (_, before, event) => {
    const next = before.length + 1
    const others = [next - 1, next + 1].map((streamversion) => altered(event, { streamversion }))
    const outcomes = await outcomesOf([...before, ...others, event])
    expect(outcomes.slice(before.length)).toEqual(['superseded', 'superseded', 'applied'])
  })
})
