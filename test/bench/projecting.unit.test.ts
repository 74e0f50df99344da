import { describe, expect, it, vi } from 'vitest'
import { calculated, growthOf } from '../../bench/growth.ts'
import type { Round } from '../../bench/load/load.ts'
import { projectTables, summarizeProjecting } from '../../bench/project-report.ts'
import { type ReplayCycle, replayVerdicts, summarizeReplays } from '../../bench/replay.ts'
import type { Cycle } from '../../bench/rounds.ts'
import {
  latencyVerdicts,
  memoryVerdicts,
  type Reading,
  readingOf,
  readings,
  type Store,
  type StoreReading,
} from '../../bench/stores.ts'
import { Stopwatch } from '../../bench/systems/stopwatch.ts'
import { asVerdicts } from '../../bench/table.ts'

const events = 200_000

function replays(rawMs: number, redisMs: number): ReplayCycle {
  const replay = (ms: number) => ({ events, ms, cpuMs: 2 * ms, peakMiB: 200 })
  return {
    'raw consumer': replay(rawMs),
    'Kafka → Redis': replay(redisMs),
    'Kafka → SQLite': replay(4000),
    'SQLite → SQLite': replay(4000),
  }
}

function latencies(p50: (reading: Reading, pets: number) => number, sizes: readonly number[]): Cycle<StoreReading> {
  const rounds = sizes.flatMap((pets) =>
    readings.map((reading): [string, Round] => [
      readingOf(reading, pets),
      { requestsPerSecond: 1, p50: p50(reading, pets), p99: 9 },
    ]),
  )
  return Object.fromEntries(rounds) as Cycle<StoreReading>
}

function storeOf(pets: number, bytes: number): Store {
  const replay = { events: pets, ms: pets / 100, cpuMs: 0, peakMiB: 250 }
  return { pets, url: '', bytes, replay, apiMiB: () => 90 }
}

describe('the summary of replays', () => {
  it('compares within a cycle, and has events a second, and the time of the processor for each', () => {
    const [raw, redis] = summarizeReplays([replays(500, 2000), replays(1000, 2000), replays(500, 1000)])
    expect(redis?.toRaw).toEqual({ median: 0.5, min: 0.25, max: 0.5 })
    expect(raw?.toRaw).toBeUndefined()
    expect(redis?.eventsPerSecond).toEqual({ median: 100_000, min: 100_000, max: 200_000 })
    expect(redis?.cpuMicros.median).toBe(20)
  })
})

describe('the targets of projecting', () => {
  it('ask for a rate into Redis by itself and beside the raw consumer', () => {
    const verdicts = summarizeReplays([replays(400, 2000)]).map((row) => asVerdicts(replayVerdicts(row)))
    expect(verdicts).toEqual(['', '0.30 of raw missed, 100000/s met', '', ''])
  })

  it('weigh a pet where there are enough of them', () => {
    const verdict = (pets: number, bytesPerPet: number) => asVerdicts(memoryVerdicts({ pets, bytesPerPet }))
    expect([verdict(1000, 900), verdict(100_000, 600), verdict(100_000, 601)]).toEqual([
      '',
      '<= 600 met',
      '<= 600 missed',
    ])
  })

  it('compare pages with others of the same store and with those of a small store', () => {
    const sizes = [1000, 1_000_000]
    const stores = sizes.map((pets) => storeOf(pets, 0))
    const cycle = latencies((reading, pets) => (reading === 'deep page' && pets > 1000 ? 1.4 : 1), sizes)
    const summary = summarizeProjecting({ replays: [replays(1, 1)], stores, latencies: [cycle] })
    const met = summary.latencies.map((row) => latencyVerdicts(row, 1000).map((verdict) => verdict.met))
    const [alone, beside] = [
      [[], [true]],
      [[true], [true, true]],
    ]
    const deep = [[true], [false, true]]
    expect(met).toEqual([[], [], ...alone, ...deep, ...alone, ...beside, ...beside, ...alone, ...alone])
  })

  it('stand in the tables', () => {
    const stores = [storeOf(100_000, 38_000_000)]
    const projecting = { replays: [replays(400, 2000)], stores, latencies: [latencies(() => 1, [100_000])] }
    const tables = projectTables(summarizeProjecting(projecting), { events, rounds: 1, seconds: 1 }, 'wrk')
    for (const text of ['0.30 of raw missed, 100000/s met', '<= 600 met', '<= 1.30 of first page met']) {
      expect(tables).toContain(text)
    }
  })

  it('calculate ten million pets of the largest store that was measured, but not how long a read takes', () => {
    const [small, large] = growthOf([storeOf(1000, 500_000), storeOf(100_000, 40_000_000)], [])
    expect(large).toMatchObject({
      eventsPerSecond: 100_000,
      seconds: 1,
      bytesPerPet: 400,
      projectorMiB: 250,
      apiMiB: 90,
    })
    const grown = calculated(small && large ? [small, large] : [], 10_000_000)
    expect(grown).toMatchObject({ pets: 10_000_000, seconds: 100, bytesPerPet: 400, p50: {} })
    expect(grown?.redisMiB).toBeCloseTo(4e9 / 1024 ** 2)
  })
})

describe('the stopwatch of a replay', () => {
  it('ends once all events are done, though a batch came twice', async () => {
    const stopwatch = new Stopwatch(5)
    const ended = vi.fn()
    void stopwatch.ended.then(ended)
    stopwatch.begin()
    stopwatch.reached(0, 3)
    stopwatch.reached(0, 3)
    await Promise.resolve()
    expect(ended).not.toHaveBeenCalled()
    stopwatch.reached(1, 2)
    expect((await stopwatch.ended).events).toBe(5)
  })
})
