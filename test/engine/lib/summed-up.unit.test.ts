import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { SummedUp } from '../../../src/engine/lib/operating/summed-up.ts'

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
})

function openSum() {
  const told: number[] = []
  const summed = new SummedUp<number>(
    (sum, figure) => sum + figure,
    (sum) => told.push(sum),
  )
  return { told, summed }
}

it('the first is told at once, and the sum of the others every ten seconds', () => {
  const { told, summed } = openSum()
  for (let second = 0; second < 25; second++) {
    for (let time = 0; time < 4; time++) summed.note(1)
    vi.advanceTimersByTime(1000)
  }
  expect(told).toEqual([1, 39, 40])
  summed.close()
  expect(told).toEqual([1, 39, 40, 20])
})

it('one after ten quiet seconds is told at once', () => {
  const { told, summed } = openSum()
  summed.note(1)
  summed.note(2)
  vi.advanceTimersByTime(10_000)
  summed.note(3)
  expect(told).toEqual([1, 2])
  vi.advanceTimersByTime(20_000)
  summed.note(4)
  expect(told).toEqual([1, 2, 3, 4])
})

it('nothing is told where nothing is left, and no timer stays', () => {
  const { told, summed } = openSum()
  summed.close()
  summed.note(1)
  summed.close()
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual([1])
  expect(vi.getTimerCount()).toBe(0)
})
