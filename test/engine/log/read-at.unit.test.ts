import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../src/engine/log/event-log.ts'
import { readAt, readBefore } from '../../../src/engine/log/read-at.ts'

const log: readonly LogRecord[] = Array.from({ length: 5000 }, (_, offset) => ({ offset, key: null, value: null }))

/** Reads at these offsets; tells what was read of the log, and how much at once. */
async function readingAt(offsets: readonly number[]) {
  const ranges: [from: number, limit: number][] = []
  let [atOnce, atOnceMax] = [0, 0]
  const found = await readAt(
    {
      endOffsets: async () => [log.length],
      read: async (_, from, limit) => {
        ranges.push([from, limit])
        atOnceMax = Math.max(atOnceMax, ++atOnce)
        await Promise.resolve()
        atOnce--
        return { records: log.slice(from, from + limit), next: Math.min(from + limit, log.length) }
      },
    },
    0,
    offsets,
  )
  return { found: found.map(({ offset }) => offset), ranges, atOnceMax }
}

it('records near each other are read together, and no others', async () => {
  const offsets = [3, 4, 50, 151, 400, 2000]
  const { found, ranges } = await readingAt(offsets)
  expect(found).toEqual(offsets)
  expect(ranges).toEqual([
    [3, 48],
    [151, 1],
    [400, 1],
    [2000, 1],
  ])
})

it('what is read together is bounded, and so is how much is read at once', async () => {
  const neighbours = Array.from({ length: 1200 }, (_, i) => i)
  const { found, ranges } = await readingAt(neighbours)
  expect(found).toEqual(neighbours)
  for (const [, limit] of ranges) expect(limit).toBeLessThanOrEqual(500)
  const scattered = Array.from({ length: 24 }, (_, i) => i * 200)
  expect((await readingAt(scattered)).atOnceMax).toBe(4)
})

describe('what is before an offset', () => {
  /** The log gives so many records a read. */
  async function readingBefore(before: number, count: number, perRead: number) {
    let reads = 0
    const found = await readBefore(
      {
        endOffsets: async () => [log.length],
        read: async (_, from, limit) => {
          reads++
          const records = log.slice(from, from + Math.min(limit, perRead))
          return { records, next: from + records.length }
        },
      },
      0,
      before,
      count,
    )
    return { from: found.from, offsets: found.records.map(({ offset }) => offset), reads }
  }
  const range = (from: number, end: number) => Array.from({ length: end - from }, (_, i) => from + i)

  it('is read up to it, and from the beginning of the log on', async () => {
    expect(await readingBefore(1000, 100, 2500)).toEqual({ from: 900, offsets: range(900, 1000), reads: 1 })
    expect(await readingBefore(1000, 100, 30)).toMatchObject({ from: 900, offsets: range(900, 1000) })
    expect(await readingBefore(7, 100, 2500)).toMatchObject({ from: 0, offsets: range(0, 7) })
  })

  it('is less where records are so large that a read gives few of them', async () => {
    const { from, offsets, reads } = await readingBefore(1000, 100, 1)
    expect([from, offsets]).toEqual([998, [998, 999]])
    expect(reads).toBeLessThanOrEqual(16)
  })
})
