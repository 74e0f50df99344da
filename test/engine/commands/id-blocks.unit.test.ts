import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { blockSize, IdBlocks, idsOf } from '../../../src/engine/commands/id-blocks.ts'
import type { IdRange } from '../../../src/engine/read-models/ports/reads.ts'
import type { AtLeast } from '../../../src/engine/read-models/read-model.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { failure } from './scene.ts'

interface Parts {
  readonly isStored?: (id: number) => boolean
  /** What the read models do in place of an answer. */
  readonly look?: () => Promise<void>
}

function open({ isStored = () => false, look = async () => {} }: Parts = {}) {
  const { logger, lines } = captureLog()
  const looks: { range: IdRange; atLeast: AtLeast | undefined }[] = []
  let reserved = 0
  const log = { reserveIdBlock: vi.fn(async () => ++reserved), endOffsets: vi.fn(async () => [7, 0, 3]) }
  const readModel = {
    async holdsAny(range: IdRange, atLeast?: AtLeast) {
      looks.push({ range, atLeast })
      await look()
      const ids = Array.from({ length: range.last - range.first + 1 }, (_, i) => range.first + i)
      return ids.some(isStored)
    },
  }
  const blocks = new IdBlocks({ log, readModel, collections: ['seats', 'bookings'], logger, retryMs: 1 })
  onTestFinished(() => blocks.close())
  return { blocks, log, looks, lines }
}

describe('a block of ids', () => {
  it('is used when nothing is stored under any of its ids, by all that was in the log when it was reserved', async () => {
    const { blocks, looks, lines } = open()
    expect(await blocks.reserve().block).toBe(1)
    let next = idsOf(1).first
    for (const { range, atLeast } of looks) {
      expect(range).toMatchObject({ collections: ['seats', 'bookings'], first: next })
      expect(range.last - range.first).toBeLessThan(1000)
      expect(atLeast?.positions).toEqual([6, 2].map((offset, i) => ({ partition: 2 * i, offset })))
      next = range.last + 1
    }
    expect(next - 1).toBe(idsOf(1).last)
    expect(lines).toEqual([])
  })

  it('is skipped, with a warning that names it, when anything is stored under one of them', async () => {
    const taken = fc.uniqueArray(fc.integer({ min: 1, max: 6 * blockSize }), { maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(taken, async (ids) => {
        const { blocks, lines } = open({ isStored: (id) => ids.includes(id) })
        const isFree = (block: number) => ids.every((id) => Math.ceil(id / blockSize) !== block)
        const expected = [1, 2, 3, 4, 5, 6, 7].find(isFree)
        expect(await blocks.reserve().block).toBe(expected)
        const skipped = lines.map(({ level, first, last }) => ({ level, first, last }))
        const before = Array.from({ length: (expected ?? 0) - 1 }, (_, i) => ({ level: 40, ...idsOf(i + 1) }))
        expect(skipped).toEqual(before)
      }),
      { numRuns: 30 },
    )
  })

  it('is looked at again until the read models answer, while nobody needs it', async () => {
    let isAway = true
    const { blocks, log, looks, lines } = open({
      isStored: (id) => id === 5,
      look: async () => {
        if (isAway) throw failure('read_model_rebuilding')
      },
    })
    const { block } = blocks.reserve()
    await eventually(() => expect(looks.length).toBeGreaterThan(3))
    log.endOffsets.mockRejectedValueOnce(failure('event_log_unavailable'))
    isAway = false
    expect(await block).toBe(2)
    expect(lines).toHaveLength(1)
  })

  it('is used unseen, with a warning, where a request needs it and the read models are away', async () => {
    const error = failure('read_model_unavailable')
    const { blocks, lines } = open({ isStored: () => true, look: () => Promise.reject(error) })
    const reservation = blocks.reserve()
    reservation.need()
    expect(await reservation.block).toBe(1)
    expect(lines).toMatchObject([{ level: 40, ...idsOf(1), err: { code: error.code } }])
  })

  it('is waited for no longer than two seconds once it is needed, where the read models do not answer', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { blocks, looks, lines } = open({ look: () => new Promise(() => {}) })
    const reservation = blocks.reserve()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(looks).toHaveLength(1)
    reservation.need()
    await vi.advanceTimersByTimeAsync(2000)
    expect(await reservation.block).toBe(1)
    expect(lines).toMatchObject([{ level: 40, ...idsOf(1) }])
  })

  it('is used after a look that fails in a way that nobody foresaw, which is told', async () => {
    const { blocks, lines } = open({ look: () => Promise.reject(new TypeError('a bug')) })
    expect(await blocks.reserve().block).toBe(1)
    expect(lines).toMatchObject([{ level: 40, err: { message: 'a bug' } }])
  })

  it('is refused after a hundred that are skipped', async () => {
    const { blocks, log } = open({ isStored: () => true })
    await expect(blocks.reserve().block).rejects.toMatchObject({ code: 'event_log_unavailable' })
    expect(log.reserveIdBlock).toHaveBeenCalledTimes(100)
  })

  it('is not there when it cannot be reserved', async () => {
    const { blocks, log } = open()
    const error = failure('event_log_unavailable')
    log.reserveIdBlock.mockRejectedValueOnce(error)
    await expect(blocks.reserve().block).rejects.toBe(error)
  })

  it('is looked at no more when the service closes', async () => {
    const { blocks, looks } = open({ look: () => Promise.reject(failure('read_model_unavailable')) })
    const { block } = blocks.reserve()
    await eventually(() => expect(looks.length).toBeGreaterThan(1))
    blocks.close()
    expect(await block).toBe(1)
  })
})
