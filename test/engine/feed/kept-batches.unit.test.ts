import { describe, expect, it } from 'vitest'
import type { FeedEvent } from '../../../src/engine/feed/feed-batch.ts'
import { KeptBatches } from '../../../src/engine/feed/kept-batches.ts'

const reading = Promise.resolve({ events: [], place: { partition: 0, next: 1, told: 0 } })
const event: FeedEvent = { stream: '1', type: 'theatre.SeatAdded.v1', json: 'x'.repeat(16_000) }
const events = Array<FeedEvent>(100).fill(event)
const names = Array.from({ length: 40 }, (_, i) => `place ${i}`)

function openKept() {
  const kept = new KeptBatches(1000)
  const left = () => names.filter((name) => kept.at(name, 'one') !== undefined)
  return { kept, left }
}

describe('batches that are kept for other followers', () => {
  it('have 16 million characters in all, with what is sent of each event; the oldest goes first', () => {
    const { kept, left } = openKept()
    for (const name of names) kept.keep(name, 'one', reading, events)
    expect(left()).toEqual(names.slice(-4))
  })

  it('of small events are bounded in number alone', () => {
    const { kept, left } = openKept()
    for (const name of names) kept.keep(name, 'one', reading, [{ ...event, json: '{}' }])
    expect(left()).toEqual(names)
  })

  it('count the overhead of events without much text', () => {
    const { kept, left } = openKept()
    const short = Array<FeedEvent>(10_000).fill({ ...event, json: '{}' })
    for (const name of names) kept.keep(name, 'one', reading, short)
    expect(left()).toEqual(names.slice(-7))
  })

  it('stay while they are read, since others wait for them', () => {
    const { kept, left } = openKept()
    for (const name of names.slice(0, 20)) kept.keep(name, 'one', reading)
    for (const name of names.slice(20)) kept.keep(name, 'one', reading, events)
    expect(left()).toEqual([...names.slice(0, 20), ...names.slice(-4)])
  })

  it('count once, and no longer when they are forgotten', () => {
    const { kept, left } = openKept()
    for (const name of names.slice(0, 4)) kept.keep(name, 'one', reading, events)
    for (let time = 0; time < 20; time++) kept.keep('place 0', 'one', reading, events)
    for (let time = 0; time < 20; time++) {
      kept.keep('another', 'one', reading)
      kept.forget('another')
    }
    expect(left()).toEqual(names.slice(0, 4))
    for (const name of names.slice(0, 4)) kept.forget(name)
    for (const name of names.slice(4, 8)) kept.keep(name, 'one', reading, events)
    expect(left()).toEqual(names.slice(4, 8))
  })
})
