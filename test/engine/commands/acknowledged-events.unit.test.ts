import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { AcknowledgedEvents } from '../../../src/engine/commands/acknowledged-events.ts'
import type { Position } from '../../../src/engine/log/event-log.ts'
import type { StreamQuery } from '../../../src/engine/read-models/ports/reads.ts'
import type { Applied, FoundStream, Wait } from '../../../src/engine/read-models/read-model.ts'
import { decodeEntry, encodeEntry } from '../../../src/engine/read-models/stored-texts.ts'
import { nothingLoaded } from '../../../src/engine/rule/awaiting.ts'
import { MemoryEventLog, MemoryLogData } from '../../../src/engine/testing/memory/memory-event-log.ts'
import { captureLog } from '../../lib/captured-log.ts'
import { eventually } from '../../lib/eventually.ts'
import { foreignRecord } from '../projector/records.ts'
import { failure, parkedAt } from './scene.ts'

const added = (id: number, eventId = `event ${id}`) =>
  foreignRecord({ id: eventId, type: 'theatre.SeatAdded.v1', source: '/', subject: String(id) })

/** A log and read models that say what a test wants to hear of an event. */
function open({ followedMax }: { followedMax?: number } = {}) {
  const data = new MemoryLogData(2)
  const log = new MemoryEventLog(data)
  const { logger, lines } = captureLog()
  const reads = {
    generation: 'first' as string | undefined,
    heard: new Map<string, Applied | Promise<Applied>>(),
    stored: new Map<string, Partial<FoundStream> | Error>(),
    waits: [] as Wait[],
    loads: [] as StreamQuery[],
  }
  const readModel = {
    generationOf: () => reads.generation,
    async whenApplied({ partition, offset }: Position, wait: Wait): Promise<Applied> {
      reads.waits.push(wait)
      return (await reads.heard.get(`${partition}/${offset}`)) ?? 'late'
    },
    async load(query: StreamQuery) {
      reads.loads.push(query)
      const found = reads.stored.get(query.stream ?? '') ?? nothingLoaded
      if (found instanceof Error) throw found
      return { ...nothingLoaded, ...found }
    },
  }
  const abandonBlockOf = vi.fn()
  const events = new AcknowledgedEvents({
    ...{ log, readModel, logger, ids: { abandonBlockOf }, retryMs: 1 },
    ...(followedMax !== undefined && { followedMax }),
  })
  /** Appends an event with this id, and answers for it. */
  function acknowledge(id: number, partition = 0): Position {
    const eventId = `event ${id}`
    const record = added(id, eventId)
    const position = { partition, offset: data.add(partition, [record]) }
    events.follow({ id, eventId, position })
    return position
  }
  const hear = ({ partition, offset }: Position, applied: Applied | Promise<Applied>) =>
    reads.heard.set(`${partition}/${offset}`, applied)
  return { events, data, reads, lines, abandonBlockOf, acknowledge, hear }
}

const entryOf = (offset: number, eventId: string) => new Map([[1, decodeEntry(encodeEntry(offset, eventId))]])
const foreign = { entries: entryOf(0, 'foreign') }
const nothingLost = { id_taken: 0, gone: 0 }

describe('an event that was acknowledged before its outcome was known', () => {
  it('is let go, without a word and without a load, once it is heard that it was applied', async () => {
    const { events, reads, lines, acknowledge, hear } = open()
    const position = acknowledge(7)
    await eventually(() => expect(reads.waits.length).toBeGreaterThan(1))
    hear(position, 'applied')
    await events.close()
    expect({ lost: events.lost, unfollowed: events.unfollowed, lines }).toEqual({
      lost: nothingLost,
      unfollowed: 0,
      lines: [],
    })
    expect(reads.loads).toEqual([])
  })

  it.each<[string, (own: number) => Partial<FoundStream>]>([
    ['another event took its version', () => foreign],
    ['another document had an id that it needed', () => nothingLoaded],
    ['another event is parked before it', (own) => parkedAt(own - 1, '7')],
  ])('is told as lost where %s, and its block is abandoned', async (_, streamAt) => {
    for (const applied of ['without_effect', 'unheard'] as const) {
      const { events, reads, lines, abandonBlockOf, acknowledge, hear } = open()
      acknowledge(6)
      const position = acknowledge(7)
      hear({ partition: 0, offset: 0 }, 'applied')
      reads.stored.set('7', streamAt(position.offset))
      hear(position, applied)
      await eventually(() => expect(events.lost).toEqual({ id_taken: 1, gone: 0 }))
      expect(lines).toMatchObject([{ level: 50, id: 7, event: '0/1', eventId: 'event 7', reason: 'id_taken' }])
      expect(abandonBlockOf.mock.calls).toEqual([[7]])
      await events.close()
      expect(events.unfollowed).toBe(0)
    }
  })

  it.each<[string, (own: number) => Partial<FoundStream>]>([
    ['was applied all the same', (own) => ({ entries: entryOf(own, 'event 7') })],
    ['is parked itself', (own) => parkedAt(own, '7')],
    [
      'was discarded by an operator',
      (own) => ({ entries: new Map([[1, decodeEntry(encodeEntry(own, 'event 7', true))]]) }),
    ],
  ])('is not told as lost where it %s', async (_, streamAt) => {
    const { events, reads, lines, acknowledge, hear } = open()
    const position = acknowledge(7)
    reads.stored.set('7', streamAt(position.offset))
    hear(position, 'unheard')
    await eventually(() => expect(reads.loads).toHaveLength(1))
    await events.close()
    expect({ lost: events.lost, unfollowed: events.unfollowed, lines }).toEqual({
      lost: nothingLost,
      unfollowed: 0,
      lines: [],
    })
  })

  it('is followed while log or read models are away', async () => {
    const { events, data, reads, acknowledge, hear } = open()
    const position = acknowledge(7)
    hear(position, 'without_effect')
    reads.stored.set('7', failure('read_model_rebuilding'))
    await eventually(() => expect(reads.loads.length).toBeGreaterThan(2))
    reads.stored.set('7', foreign)
    const read = vi.spyOn(MemoryEventLog.prototype, 'read').mockRejectedValue(failure('event_log_unavailable'))
    await eventually(() => expect(read.mock.calls.length).toBeGreaterThan(2))
    expect(events.lost).toEqual(nothingLost)
    read.mockRestore()
    await eventually(() => expect(events.lost).toEqual({ id_taken: 1, gone: 0 }))
    expect(data.records[0]).toHaveLength(1) // nothing is appended in its place
  })

  it('is looked up in another generation, whatever is announced there of its position', async () => {
    const { events, data, reads, lines, abandonBlockOf, acknowledge, hear } = open()
    const position = acknowledge(7)
    await eventually(() => expect(reads.waits.length).toBeGreaterThan(1))
    data.loseFrom(0, 0)
    data.add(0, [added(8)])
    reads.generation = 'second'
    hear(position, 'applied')
    await eventually(() => expect(events.lost).toEqual({ id_taken: 0, gone: 1 }))
    expect(lines).toMatchObject([{ level: 50, id: 7, reason: 'gone' }])
    expect([reads.waits.at(0)?.isRecorded, reads.waits.at(-1)?.isRecorded]).toEqual([true, false])
    expect(abandonBlockOf).not.toHaveBeenCalled()
  })

  it('is looked up where another generation is announced while it is waited for', async () => {
    const { events, reads, acknowledge, hear } = open()
    const { promise, resolve } = Promise.withResolvers<Applied>()
    hear({ partition: 0, offset: 0 }, promise)
    acknowledge(7)
    await eventually(() => expect(reads.waits).toHaveLength(1))
    reads.generation = 'second'
    reads.stored.set('7', foreign)
    resolve('applied')
    await eventually(() => expect(events.lost).toEqual({ id_taken: 1, gone: 0 }))
  })

  it('is not told as lost where read models are built again from the log that has it', async () => {
    const { events, reads, acknowledge, hear } = open()
    const position = acknowledge(7)
    reads.generation = 'second'
    reads.stored.set('7', { entries: entryOf(position.offset, 'event 7') })
    hear(position, 'applied')
    await eventually(() => expect(reads.loads).toHaveLength(1))
    await events.close()
    expect({ ...events.lost, unfollowed: events.unfollowed }).toEqual({ ...nothingLost, unfollowed: 0 })
  })

  it('is counted as unfollowed where there are too many, the first ones of a partition first, or the service closes', async () => {
    const { events, reads, lines, acknowledge, hear } = open({ followedMax: 6 })
    const positions = [1, 2, 3, 4, 5].map((id) => acknowledge(id))
    acknowledge(6, 1)
    expect(events.unfollowed).toBe(2)
    for (const position of positions) hear(position, 'without_effect')
    for (const id of [1, 2, 3, 4, 5]) reads.stored.set(`${id}`, foreign)
    await eventually(() => expect(events.lost.id_taken).toBe(3))
    await events.close()
    expect(events.unfollowed).toBe(3)
    const told = lines.filter(({ level }) => level === 40).map(({ count }) => Number(count))
    expect(told.reduce((sum, count) => sum + count)).toBe(3)
  })
})

it('of any acknowledged events, answered in any order, those that are lost are told once each', async () => {
  const outcomes = fc.array(fc.constantFrom('applied', 'lost', 'parked'), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(outcomes, fc.infiniteStream(fc.nat()), async (outcomes, choices) => {
      const { events, data, reads, lines, hear } = open()
      const ids = outcomes.map((_, i) => i + 1)
      const append = (id: number) => data.add(id % 2, [added(id)])
      const positions = new Map(ids.map((id) => [id, { partition: id % 2, offset: append(id) }]))
      const left = [...ids]
      const waiting: number[] = []
      while (left.length + waiting.length > 0) {
        const choice = choices.next().value
        if (left.length > 0 && choice % 2 === 0) {
          const [id = 0] = left.splice(choice % left.length, 1)
          events.follow({ id, eventId: `event ${id}`, position: positions.get(id) ?? expect.fail() })
          waiting.push(id)
        } else if (waiting.length > 0) {
          const [id = 0] = waiting.splice(0, 1)
          const [position, outcome] = [positions.get(id) ?? expect.fail(), outcomes[id - 1]]
          if (outcome === 'lost') reads.stored.set(`${id}`, foreign)
          if (outcome === 'parked') reads.stored.set(`${id}`, parkedAt(position.offset, `${id}`))
          hear(position, outcome === 'applied' ? 'applied' : 'without_effect')
          await Promise.resolve()
        } else await Promise.resolve()
      }
      await eventually(() => expect(events.lost.id_taken).toBe(outcomes.filter((each) => each === 'lost').length))
      await events.close()
      expect(events.unfollowed).toBe(0)
      const told = lines.map(({ id }) => Number(id)).sort((one, other) => one - other)
      expect(told).toEqual(ids.filter((id) => outcomes[id - 1] === 'lost'))
    }),
    { numRuns: 50 },
  )
})
