import { expect, it } from 'vitest'
import { textOf } from '../../../src/engine/cli/published.ts'
import type { LogRecord } from '../../../src/engine/log/event-log.ts'
import type {
  LookedLane,
  LookedPartition,
  PublishedLook,
  PublisherName,
} from '../../../src/engine/log/published-log.ts'
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
  return await describedOf('events', { topics: ['seats.published'], ...look }, ...ends)
}

async function describedOf(publisher: PublisherName, look: Partial<PublishedLook>, ...ends: readonly number[]) {
  const whole = { topics: [], missing: [], failure: undefined, lanes: [], warnings: [], ...look }
  const published = { publisher, inspect: async () => whole }
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
    'To begin anew with events, stop the consumers and delete seats.published: it comes back, from the first event of the log on.',
  )
})

it('where the copy of the read models is, is told by partition, and what to delete to have it made anew', async () => {
  const of = (partition: number, copying?: { set: string; after: number }) =>
    partitionUpTo(partition, 1, { filled: { projections: 'seats-1', copying } })
  const topics = ['a.documents.seats', 'a.documents.bills']
  const partitions = [
    partitionUpTo(0, 0),
    of(1, { set: 'seats', after: 12345 }),
    of(2, { set: 'rows', after: 0 }),
    of(3),
    { ...of(4, { set: 'seats', after: 7 }), failure: 'lost its end' },
  ]
  const found = await describedOf('documents', { topics, lanes: [laneOf(0, ...partitions)] }, 0, 9, 1, 1, 1)
  const lines = textOf([found]).split('\n')
  expect(lines.slice(1, 6).map((line) => line.split(/ {2,}/).at(-1))).toEqual([
    'filling: not begun',
    'filling: seats, up to id 12345',
    'filling: what is removed',
    'as it should be',
    'stands still',
  ])
  expect(found.lanes[0]?.partitions[1]).toMatchObject({ lag: 8, filled: { copying: { set: 'seats', after: 12345 } } })
  expect(lines.at(-1)).toMatch(
    /^To begin anew with documents, stop the consumers and delete a\.documents\.seats, a\.documents\.bills: they come back .* last values\. What new projections no longer show/,
  )
})

it('each publisher has lines of its own', async () => {
  const both = [
    await described({ lanes: [laneOf(0, partitionUpTo(0, 1))] }, 1),
    await describedOf('documents', { topics: ['a.documents.b'], missing: ['a.documents.b'] }, 1),
  ]
  expect(textOf(both).split('\n').slice(1)).toEqual([
    expect.stringMatching(/^events .*as it should be$/),
    expect.stringMatching(/^documents, a\.documents\.b is not there/),
    expect.stringMatching(/^To begin anew with events, /),
    expect.stringMatching(/^To begin anew with documents, /),
  ])
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
