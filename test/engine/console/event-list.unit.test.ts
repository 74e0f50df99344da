import { describe, expect, it } from 'vitest'

interface Event {
  readonly subject: string
  readonly streamversion?: number
  readonly streamindex?: number
}
interface List {
  readonly isCut: boolean
  readonly leftOut: number
}
/** The events on the page, as the browser has them. */
interface EventList {
  readonly rowsMax: number
  begun(message: object): List
  withLater(list: List, message: object): List
  withEarlier(list: List, asked: string | undefined, answer: object): List
  eventsIn(list: List): Event[]
  endOf(list: List): string | null | undefined
  versionOf(event: Event): string
}
const { rowsMax, begun, withLater, withEarlier, eventsIn, endOf, versionOf }: EventList = await import(
  new URL('../../../src/engine/console/page/event-list.js', import.meta.url).href
)

const eventOf = (n: number): Event => ({ subject: String(n), streamversion: 1 })
/** Oldest first, as the tail has them. */
const later = (from: number, count: number) => ({
  events: Array.from({ length: count }, (_, i) => eventOf(from + i)),
  leftOut: 0,
  after: `after ${from + count - 1}`,
})
/** Latest first, as they are asked for. */
const earlier = (from: number, count: number) => ({
  events: Array.from({ length: count }, (_, i) => eventOf(from - i)),
  before: `after ${from - count}`,
})
const numbers = (list: List) => eventsIn(list).map(({ subject }) => Number(subject))
const down = (from: number, count: number) => Array.from({ length: count }, (_, i) => from - i)
const opened = begun({ events: [], leftOut: 0, after: 'after 1000' })

describe('the list of events', () => {
  it('has each of several events of one version', () => {
    const events = [0, 1, 2].map((streamindex) => ({ ...eventOf(1001), streamindex }))
    const message = (shown: readonly Event[]) => ({ events: shown, leftOut: 0, after: 'after 1001' })
    let list = withLater(opened, message(events.slice(0, 1))) // the others are left out of a sample
    list = withLater(list, message(events))
    expect(eventsIn(list)).toEqual(events.toReversed())
    expect(events.map(versionOf)).toEqual(['1.0', '1.1', '1.2'])
    expect(versionOf({ subject: '7', streamversion: 3 })).toBe('3')
  })

  it('has what comes above what was before, without a gap and without a double', () => {
    let list = withLater(opened, later(1001, 2))
    list = withEarlier(list, 'after 1000', earlier(1000, 50))
    list = withLater(list, { events: [], leftOut: 0, after: 'after 1002' })
    list = withLater(list, later(1003, 1))
    expect(numbers(list)).toEqual(down(1003, 53))
    expect(endOf(list)).toBe('after 950')
  })

  it('takes an answer only where it belongs', () => {
    const list = withEarlier(opened, 'after 1000', earlier(1000, 50))
    expect(withEarlier(list, 'after 1000', earlier(1000, 50))).toBe(list)
    expect(endOf(withEarlier(list, 'after 950', { events: [], before: 'after 900' }))).toBe('after 900')
    expect(endOf(withEarlier(list, 'after 950', { events: [], before: null }))).toBeNull()
  })

  it('gives up its last events to what comes, and asks for them again', () => {
    let list = withEarlier(opened, 'after 1000', earlier(1000, 50))
    for (let n = 1001; n < 2000; n += 10) list = withLater(list, later(n, 10))
    expect(numbers(list)).toEqual(down(2000, rowsMax))
    expect(endOf(list)).toBe(`after ${2000 - rowsMax}`)
    expect(list.isCut).toBe(false)
  })

  it('gives up its first events to earlier ones, and then takes none that come', () => {
    let list = withLater(opened, later(1001, 5))
    for (let n = 1000; n > 100; n -= 50) list = withEarlier(list, `after ${n}`, earlier(n, 50))
    expect(numbers(list)).toEqual(down(100 + rowsMax, rowsMax))
    expect(list.isCut).toBe(true)
    expect(withLater(list, later(1006, 1))).toBe(list)
  })

  it('has an event once that a discard released, and that comes again at its own place', () => {
    const list = withLater(opened, { events: [eventOf(990)], leftOut: 0, after: 'after 1001' })
    expect(numbers(withEarlier(list, 'after 1000', earlier(1000, 50))).toSorted()).toEqual(down(1000, 50).toSorted())
    expect(numbers(withLater(list, { events: [eventOf(990)], leftOut: 0, after: 'after 1002' }))).toEqual([990])
  })

  it('counts what is left out', () => {
    expect(withLater(withLater(opened, { ...later(1, 1), leftOut: 3 }), { ...later(2, 1), leftOut: 4 }).leftOut).toBe(7)
  })
})
