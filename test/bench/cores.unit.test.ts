import { describe, expect, it } from 'vitest'
import { coreRows, highestRate, limits } from '../../bench/cores/calculated.ts'
import { type CoreCycle, formNames, loadNames, report } from '../../bench/cores/report.ts'

/** An API process spends half of 200 µs. */
const costs = { api: 100, projector: 40, kafka: 40, redis: 20 }

describe('the highest rate', () => {
  it.each([
    ['apis', { cores: 8, apis: 1, projectors: 1 }, 10_000],
    ['projectors', { cores: 16, apis: 4, projectors: 1 }, 25_000],
    ['Redis', { cores: 16, apis: 8, projectors: 4 }, 50_000],
    ['cores', { cores: 4, apis: 4, projectors: 4 }, 20_000],
  ])('is limited by %s', (limit, processes, rate) => {
    expect(highestRate(processes, costs)).toBeCloseTo(rate)
    expect(limits(processes, costs)).toBe(limit)
  })

  it('is lower where something else takes its part of the cores', () => {
    expect(highestRate({ cores: 2, apis: 2, projectors: 2 }, costs, 50)).toBeCloseTo(8000)
  })

  it('is limited by nothing that takes no time', () => {
    expect(limits({ cores: 2, apis: 1, projectors: 1 }, { api: 10, projector: 0, kafka: 0, redis: 0 })).toBe('apis')
  })
})

it('a row has the fewest processes that get the most out of its cores', () => {
  expect(coreRows([2, 4, 8, 16], costs).map(({ processes }) => processes)).toEqual([
    { cores: 2, apis: 1, projectors: 1 },
    { cores: 4, apis: 2, projectors: 1 },
    { cores: 8, apis: 4, projectors: 2 },
    { cores: 16, apis: 5, projectors: 2 }, // Redis takes 50,000 requests a second
  ])
})

it('the report has a row for each form under each load, and compares what is calculated with what is measured', () => {
  const measured = { requestsPerSecond: 4000, p50: 1, p99: 2, costs: { ...costs, client: 50 }, busy: 1 }
  const of = <K extends string, V>(names: readonly K[], value: V) =>
    Object.fromEntries(names.map((name) => [name, value])) as Record<K, V>
  const cycle: CoreCycle = of(formNames, of(loadNames, measured))
  const told = report([cycle, cycle], 2)
  for (const load of loadNames)
    for (const form of formNames)
      expect(told).toMatch(new RegExp(`\\| ${load}: ${form.replaceAll('+', '\\+')} +\\| +4000 \\|`))
  expect(told).toMatch(/\n\| 16 +\| +5 apis, 2 projectors \|/)
  expect(told).toContain('on 2 cores with the client: POST, durable 0.50, POST 0.50, GET by id 0.50, mixed 0.50')
})
