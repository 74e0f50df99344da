import { expect, it } from 'vitest'
import { textOf } from '../../../src/engine/cli/published.ts'
import type { LogRecord } from '../../../src/engine/log/event-log.ts'
import type { LookedLane, LookedPartition, PublishedLook } from '../../../src/engine/log/published-log.ts'
import { recordIdentity } from '../../../src/engine/log/record-identity.ts'
import { describePublished, problemsOf, standingStill } from '../../../src/engine/operations/published.ts'

const recordAt = (offset: number): LogRecord => ({
  offset,
  key: Buffer.from('7'),
  value: Buffer.from(`event ${offset}`),
})

/** A log whose partitions end at these offsets. */
const logOf = (...ends: readonly number[]) => ({
  endOffsets: async () => [...ends],
  read: async (partition: number, offset: number) => {
    const isThere = offset < (ends[partition] ?? 0)
    return { records: isThere ? [recordAt(offset)] : [], next: isThere ? offset + 1 : offset }
  },
})

function partitionUpTo(partition: number, next: number, over: Partial<LookedPartition> = {}): LookedPartition {
  const last = next === 0 ? null : { offset: next - 1, identity: recordIdentity(recordAt(next - 1)) }
  return { partition, next, last, told: next, waiting: 0, failure: undefined, ...over }
}

const laneOf = (lane: number, ...partitions: readonly LookedPartition[]): LookedLane => ({
  ...{ lane, owner: 'here-1', failure: undefined, partitions },
})

async function described(look: Partial<PublishedLook>, ...ends: readonly number[]) {
  const whole = { topics: ['seats.published'], missing: [], failure: undefined, lanes: [], warnings: [], ...look }
  const published = { publisher: 'events' as const, inspect: async () => whole }
  const [found, ...others] = await describePublished(logOf(...ends), [published])
  if (found === undefined || others.length > 0) throw new Error('one publisher is told of')
  return found
}

it('how far each partition is behind the log is told, and who has it', async () => {
  const waits = partitionUpTo(1, 3, { waiting: 2, told: 1 })
  const found = await described({ lanes: [laneOf(0, partitionUpTo(0, 5), waits), { ...laneOf(1), owner: null }] }, 5, 9)
  expect(found.lanes[0]?.partitions.map(({ lag }) => lag)).toEqual([0, 6])
  expect(standingStill(found)).toEqual([])
  const lines = textOf([found]).split('\n')
  expect(lines[0]).toMatch(/^PUBLISHER +LANE +OWNER +PARTITION +POSITION +TOLD +LAG +WAITING +STATE$/)
  expect(lines[2]).toMatch(/^events +0 +here-1 +1 +3 +1 +6 +2 +as it should be$/)
  expect(lines.at(-1)).toBe(
    'To begin anew, stop the consumers and delete seats.published: it comes back, from the first event of the log on.',
  )
})

it('a lane is told of that nobody has, or whose owner Kafka does not tell', async () => {
  const owners = [null, undefined].map((owner, lane) => ({ ...laneOf(lane, partitionUpTo(lane, 0)), owner }))
  const lines = textOf([await described({ lanes: owners }, 0, 0)]).split('\n')
  expect(lines[1]).toMatch(/^events +0 +nobody +0 /)
  expect(lines[2]).toMatch(/^events +1 +\? +1 /)
})

it('a log that lost its end is found, also where it has grown again; what was found before it is told alone', async () => {
  const other = { ...recordAt(1), value: Buffer.from('another') }
  const replaced = partitionUpTo(0, 2, { last: { offset: 1, identity: recordIdentity(other) } })
  const found = await described({ lanes: [laneOf(0, replaced, partitionUpTo(1, 4))] }, 9, 2)
  expect(standingStill(found)).toEqual([
    expect.stringMatching(
      /^partition 0: Partition 0 of the event log has another record at offset 1: it has lost its end/,
    ),
    expect.stringMatching(/^partition 1: Partition 1 of the event log ends at offset 2: it has lost its end/),
  ])
  const still = partitionUpTo(1, 4, { failure: 'of another log' })
  expect(standingStill(await described({ lanes: [laneOf(0, still)] }, 0, 2))).toEqual(['partition 1: of another log'])
})

it('what stands still, lacks or is not as it should be is told line by line, with the part of the runbook', async () => {
  const failed = { ...laneOf(1), failure: 'has something else\nthan a position' }
  const warnings = [{ code: 'published_can_be_deleted', message: 'Set its retention.' }]
  const found = await described({ lanes: [laneOf(0, partitionUpTo(0, 1)), failed], warnings }, 1)
  expect(problemsOf(found)).toEqual(['lane 1: has something else\nthan a position', 'Set its retention.'])
  expect(textOf([found]).split('\n').slice(2)).toEqual([
    'events, lane 1: has something else\\u000athan a position',
    'events, Set its retention.',
    "See 'Publishing stands still' in the runbook.",
    expect.stringContaining('To begin anew'),
  ])

  const missing = await described({ missing: ['seats.published'] }, 1)
  expect([standingStill(missing), problemsOf(missing).length]).toEqual([[], 1])
  const wrong = await described({ failure: 'It has 2 partitions.' }, 1)
  expect(standingStill(wrong)).toEqual(['seats.published: It has 2 partitions.'])
})
