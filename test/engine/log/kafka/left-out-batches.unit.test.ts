import { expect, it, vi } from 'vitest'
import { LeftOutBatches } from '../../../../src/engine/log/kafka/left-out-batches.ts'

it('each batch that is left out is told once, in whatever order they come, and with a bound', () => {
  const logger = { warn: vi.fn() }
  const leftOut = new LeftOutBatches({ topic: 'seats', logger: logger as never })
  const report = (partition: number, offset: number) => leftOut.report({ partition, offset, reason: 'too large' })
  expect(leftOut.warnings).toEqual([])
  report(0, 9)
  report(1, 9)
  report(0, 9)
  report(0, 5) // after the log has lost its end
  report(0, 5)
  expect(logger.warn.mock.calls.map(([{ partition, offset }]) => [partition, offset])).toEqual([
    [0, 9],
    [1, 9],
    [0, 5],
  ])
  expect(leftOut.warnings).toMatchObject([{ message: expect.stringMatching(/^3 batches .* offset 5 of partition 0/) }])
  for (let offset = 10; offset < 1010; offset++) report(2, offset)
  report(0, 9) // so long ago that it is told again
  expect(logger.warn).toHaveBeenCalledTimes(1004)
  report(2, 1009)
  expect(logger.warn).toHaveBeenCalledTimes(1004)
})
