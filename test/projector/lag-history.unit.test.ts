import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LagHistory } from '../../src/projector/lag-meter.ts'

interface Look {
  readonly atMs: number
  readonly end: number
  readonly next: number
}

/** A log that grows and read models that follow it, now and then set back to the beginning as a rebuild does. */
const lives = (max: number) =>
  fc
    .array(
      fc.record({ ms: fc.integer({ min: 1, max: 3000 }), appended: fc.nat(3), applied: fc.nat(3), reset: odds(50) }),
      {
        minLength: 1,
        maxLength: max,
      },
    )
    .map((steps) => {
      const looks: Look[] = []
      let [atMs, end, next] = [0, 0, 0]
      for (const { ms, appended, applied, reset } of steps) {
        atMs += ms
        end += appended
        next = reset ? 0 : Math.min(end, next + applied)
        looks.push({ atMs, end, next })
      }
      return looks
    })

function odds(oneIn: number): fc.Arbitrary<boolean> {
  return fc.nat(oneIn - 1).map((n) => n === 0)
}

/** Written down from the definition: since the first look at an end that the position has not reached to this day. */
function expectedMs(looks: readonly Look[]): number {
  let [reached, sinceMs] = [0, looks.at(-1)?.atMs ?? 0]
  for (const { atMs, end, next } of looks.toReversed()) {
    reached = Math.max(reached, next)
    if (end > reached) sinceMs = atMs
  }
  return (looks.at(-1)?.atMs ?? 0) - sinceMs
}

function observed(history: LagHistory, looks: readonly Look[]): number[] {
  return looks.map(({ atMs, end, next }) => history.observe(atMs, end, next))
}

describe('how long a partition has been behind', () => {
  it('counts from when its end was first seen beyond what is applied now', () => {
    const looks = [
      { atMs: 0, end: 5, next: 5 },
      { atMs: 1000, end: 7, next: 5 },
      { atMs: 2000, end: 9, next: 6 },
      { atMs: 3000, end: 9, next: 7 }, // the record at 7 is there since 2000
      { atMs: 4000, end: 9, next: 9 },
      { atMs: 5000, end: 10, next: 9 },
    ]
    expect(observed(new LagHistory(), looks)).toEqual([0, 0, 1000, 1000, 0, 0])
  })

  it('is as defined, whatever is appended, applied and rebuilt', () => {
    fc.assert(
      fc.property(lives(60), (looks) => {
        const expected = looks.map((_, i) => expectedMs(looks.slice(0, i + 1)))
        expect(observed(new LagHistory(), looks)).toEqual(expected)
      }),
    )
  })

  it('of a history longer than it keeps is too long by a small part at most, and never too short', () => {
    const seenMax = 16
    fc.assert(
      fc.property(lives(200), (looks) => {
        let longest = 0
        const history = new LagHistory(seenMax)
        for (const [i, ms] of observed(history, looks).entries()) {
          const expected = expectedMs(looks.slice(0, i + 1))
          longest = Math.max(longest, expected)
          expect(ms).toBeGreaterThanOrEqual(expected)
          expect(ms - expected).toBeLessThanOrEqual((2 * longest) / seenMax + 3000)
        }
      }),
    )
  })

  it('is exact while nothing at all is applied, however long that takes', () => {
    const history = new LagHistory(16)
    const looks = Array.from({ length: 5000 }, (_, i) => ({ atMs: i * 1000, end: 1 + i, next: 0 }))
    expect(observed(history, looks)).toEqual(looks.map(({ atMs }) => atMs))
  })

  it('stays exact while nothing is appended, however long that takes', () => {
    const history = new LagHistory(16)
    for (let second = 0; second < 100; second++) history.observe(second * 1000, 1, 0)
    history.observe(100_000, 2, 0)
    expect(history.observe(101_000, 2, 1)).toBe(1000)
  })

  it('begins anew with a log that was made anew', () => {
    const looks = [
      { atMs: 0, end: 9, next: 3 },
      { atMs: 1000, end: 9, next: 3 },
      { atMs: 2000, end: 4, next: 3 },
    ]
    expect(observed(new LagHistory(), looks)).toEqual([0, 1000, 0])
  })
})
