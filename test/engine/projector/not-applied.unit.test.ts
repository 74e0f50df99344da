import { expect, it, onTestFinished, vi } from 'vitest'
import { NotApplied } from '../../../src/engine/projector/not-applied.ts'
import { startOfPartition } from '../../../src/engine/read-models/stored-texts.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { filledWorld, startRebuild } from '../rebuilding/rebuilding.ts'
import { startVerify } from '../rebuilding/verifying.ts'
import { newerEvent, record, seatAdded } from './records.ts'
import { openWorld, untilCaughtUp } from './world.ts'

type Counts = Partial<typeof startOfPartition.counts>

const at = (next: number, counts: Counts) => ({
  ...startOfPartition,
  next,
  counts: { ...startOfPartition.counts, ...counts },
})
const none = { superseded: 0, duplicate: 0, parked: 0, skipped: 0 }
const msg = 'records not applied'

it('records that are not applied are logged once in ten seconds for each partition, all of them', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { logger, lines } = captureLog()
  const notApplied = new NotApplied(logger)
  for (let n = 0; n < 100; n++) {
    notApplied.note(0, at(n * 10, { skipped: 3 * n }), at(n * 10 + 10, { skipped: 3 * n + 3 }))
    notApplied.note(
      1,
      at(n, { superseded: n, duplicate: 2 * n }),
      at(n + 1, { superseded: n + 1, duplicate: 2 * n + 2 }),
    )
    notApplied.note(2, at(n, { parked: 7 }), at(n + 1, { parked: 7 }))
  }
  const [warn, info] = [40, 30]
  const first = [
    { level: warn, partition: 0, from: 0, to: 10, ...none, skipped: 3, msg },
    { level: info, partition: 1, from: 0, to: 1, ...none, superseded: 1, duplicate: 2, msg },
  ]
  const second = [
    { level: warn, partition: 0, from: 10, to: 1000, ...none, skipped: 297, msg },
    { level: info, partition: 1, from: 1, to: 100, ...none, superseded: 99, duplicate: 198, msg },
  ]
  expect(lines).toMatchObject(first)
  vi.advanceTimersByTime(10_000)
  expect(lines).toMatchObject([...first, ...second])
})

it('a projector that goes back and parks what competed before says so', () => {
  const { logger, lines } = captureLog()
  const notApplied = new NotApplied(logger)
  const note = (from: number, to: number, counts: Counts) => notApplied.note(0, at(from, {}), at(to, counts))
  note(500, 510, { duplicate: 1 })
  note(510, 520, { duplicate: 1 })
  note(0, 100, { parked: 1 })
  notApplied.close()
  expect(lines).toMatchObject([
    { level: 30, from: 500, to: 510, ...none, duplicate: 1 },
    { level: 40, from: 0, to: 520, ...none, duplicate: 1, parked: 1 },
  ])
})

function sumOf(lines: readonly Record<string, unknown>[]) {
  const ofRecords = lines.filter((line) => line.msg === msg)
  const sum = (name: string) => ofRecords.reduce((total, line) => total + Number(line[name]), 0)
  return { lines: ofRecords.length, superseded: sum('superseded'), parked: sum('parked'), skipped: sum('skipped') }
}

it('a projector that closes has logged all records that it did not apply, in few lines', async () => {
  const { logger, lines } = captureLog()
  const world = openWorld()
  await world.start({ logger })
  for (let n = 1; n <= 30; n++) {
    await world.append([seatAdded({ id: n }), seatAdded({ id: n }), record('garbage'), newerEvent(`x${n}`, 1)])
    await untilCaughtUp(world)
  }
  await world.stop()
  const { lines: count, ...told } = sumOf(lines)
  expect(told).toEqual({ superseded: 30, parked: 30, skipped: 30 })
  expect(count).toBeLessThan(10)
})

it.each([
  ['a rebuild', startRebuild],
  ['a verification', startVerify],
])('%s has logged all records that it did not apply', async (_, start) => {
  const { logger, lines } = captureLog()
  const world = await filledWorld()
  for (let n = 0; n < 6; n++) await world.append(Array(500).fill(record('garbage')))
  await world.start()
  await untilCaughtUp(world)
  await world.stop()
  await start(world, { logger })
  expect(sumOf(lines)).toEqual({ lines: 2, superseded: 0, parked: 0, skipped: 3000 })
})
