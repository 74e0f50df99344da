import { expect, it } from 'vitest'
import type { LogRecord } from '../../../src/engine/log/event-log.ts'
import { readAt } from '../../../src/engine/log/read-at.ts'

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
