import fc from 'fast-check'
import kafkajs from 'kafkajs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { EventLog, NewRecord } from '../../src/event-log/event-log.ts'
import { newGroup, RecordingSubscriber } from './recording-subscriber.ts'

/** A new, empty log and what the suite does to it from outside. */
export interface EventLogFixture {
  readonly log: EventLog
  /** Another object on the same log, as another process would have. */
  open(): Promise<EventLog>
  /** A record that the log refuses to append. */
  readonly refused: NewRecord
  /** Appends to partition 0 what this service never would, but another producer may. */
  appendForeign(record: { key: Buffer | null; value: Buffer | null }): Promise<void>
  /** Closes every object that was opened and removes the log. */
  remove(): Promise<void>
}

const patience = { timeout: 20_000, interval: 20 }

/**
 * Every sentence of the port, on one adapter. Not asserted here: what happens when the log fails, which each adapter's
 * own test provokes, and that an append settles within its limit.
 */
export function eventLogContract(adapter: string, openFixture: () => Promise<EventLogFixture>): void {
  describe(`${adapter} keeps the event log contract`, () => {
    let fixture: EventLogFixture
    let log: EventLog
    beforeEach(async () => {
      fixture = await openFixture()
      log = fixture.log
    })
    afterEach(() => fixture.remove())

    describe('append', () => {
      it('gives the first record of each partition offset 0 and counts on from there', async () => {
        for (const partition of partitionsOf(log)) {
          expect(await log.append(partition, records('a', 'b', 'c'))).toBe(0)
          expect(await log.append(partition, records('d'))).toBe(3)
          expect(await log.append(partition, records('e', 'f'))).toBe(4)
        }
      })

      it('keeps 1000 records in array order, with key and value as given', async () => {
        const given = Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}`, value: `ü${i}`, headers: {} }))
        await log.append(0, given)
        const subscriber = await RecordingSubscriber.on(log)
        await vi.waitFor(() => expect(subscriber.records(0)).toHaveLength(1000), patience)
        const found = subscriber
          .records(0)
          .map(({ key, value }) => ({ key: String(key), value: String(value), headers: {} }))
        expect(found).toEqual(given)
        expect(subscriber.records(0).map(({ offset }) => offset)).toEqual(given.map((_, i) => i))
      })

      it('appends nothing of a batch in which one record is refused, and works on', async () => {
        await log.append(0, records('before'))
        const refusal = log.append(0, [...records('a'), fixture.refused, ...records('b')])
        await expect(refusal).rejects.toMatchObject({ code: 'event_log_unavailable' })
        expect(await log.append(0, records('after'))).toBe(1)
        const subscriber = await RecordingSubscriber.on(log)
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['before', 'after']), patience)
      })

      it('is durable: another object reads it after this one is closed', async () => {
        await log.append(0, records('a', 'b'))
        await log.close()
        const reopened = await fixture.open()
        expect(await reopened.append(0, records('c'))).toBe(2)
        const subscriber = await RecordingSubscriber.on(reopened)
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a', 'b', 'c']), patience)
      })
    })

    describe('epoch', () => {
      it('is the same for every object on the log, now and after all were closed', async () => {
        const beside = await fixture.open()
        expect(beside.epoch).toBe(log.epoch)
        await Promise.all([log.close(), beside.close()])
        expect((await fixture.open()).epoch).toBe(log.epoch)
      })

      it('is another one for another log', async () => {
        const other = await openFixture()
        expect(other.log.epoch).not.toBe(log.epoch)
        expect(log.epoch).not.toBe('')
        await other.remove()
      })
    })

    describe('partitionFor', () => {
      it("is Kafka's default partitioner", () => {
        const byKafkajs = kafkajs.Partitioners.DefaultPartitioner()
        const partitionMetadata = partitionsOf(log).map((partitionId) => partitionMetadataOf(partitionId))
        const expected = (key: string) => byKafkajs({ topic: 't', partitionMetadata, message: { key, value: null } })
        fc.assert(fc.property(fc.string({ unit: 'binary' }), (key) => log.partitionFor(key) === expected(key)))
        fc.assert(fc.property(fc.nat(), (id) => log.partitionFor(String(id)) === expected(String(id))))
      })
    })

    describe('claimBlock', () => {
      it('never gives a number twice: at once, from two objects, nor after reopening', async () => {
        const beside = await fixture.open()
        const claims = Array.from({ length: 20 }, (_, i) => (i % 2 ? log : beside).claimBlock())
        const first = await Promise.all(claims)
        await Promise.all([log.close(), beside.close()])
        const reopened = await fixture.open()
        const all = [...first, await reopened.claimBlock(), await reopened.claimBlock()]
        expect(new Set(all).size).toBe(all.length)
        expect(Math.min(...all)).toBeGreaterThanOrEqual(1)
      })

      it('leaves the records alone', async () => {
        await log.claimBlock()
        expect(await log.append(0, records('a'))).toBe(0)
      })
    })

    describe('ends', () => {
      it('is 0 for each partition of an empty log', async () => {
        expect(await log.ends()).toEqual(partitionsOf(log).map(() => 0))
      })

      it('is above every append acknowledged before the call, here or through another object', async () => {
        const beside = await fixture.open()
        for (let appended = 0; appended < 5; appended++) {
          const earlier = log.ends() // one under way must not answer for later ones
          await log.append(0, records('a'))
          const [[mine], [theirs]] = await Promise.all([log.ends(), beside.ends()])
          expect([mine, theirs]).toEqual([appended + 1, appended + 1])
          await earlier
        }
      })

      it('counts each partition by itself', async () => {
        for (const partition of partitionsOf(log)) {
          await log.append(partition, records(...Array.from({ length: partition + 1 }, () => 'x')))
        }
        expect(await log.ends()).toEqual(partitionsOf(log).map((partition) => partition + 1))
      })
    })

    describe('subscribe', () => {
      it('gives one member of a group every partition', async () => {
        const subscriber = await RecordingSubscriber.on(log)
        await vi.waitFor(() => expect(subscriber.held).toEqual(partitionsOf(log)), patience)
      })

      it('tells the first assignment only once the subscriber has its subscription', async () => {
        const order: string[] = []
        const assigned = () => order.push('assigned')
        await log.subscribe(newGroup(), { assigned, batch: async () => true })
        order.push('subscribed')
        await vi.waitFor(() => expect(order).toEqual(['subscribed', 'assigned']), patience)
      })

      it('shares the partitions out in a group; who stays takes those of who closes', async () => {
        const group = newGroup()
        const beside = await fixture.open()
        const one = await RecordingSubscriber.on(log, { group })
        await vi.waitFor(() => expect(one.held).toEqual(partitionsOf(log)), patience)
        const other = await RecordingSubscriber.on(log.partitions > 1 ? beside : log, { group })
        await vi.waitFor(() => expect(other.assignments.length).toBeGreaterThan(0), patience)
        await vi.waitFor(() => expect([...one.held, ...other.held].sort()).toEqual(partitionsOf(log)), patience)
        await one.close()
        await vi.waitFor(() => expect(other.held).toEqual(partitionsOf(log)), patience)
        await log.append(0, records('after'))
        await vi.waitFor(() => expect(other.values(0)).toEqual(['after']), patience)
      })

      it('gives two groups the whole log each', async () => {
        await log.append(0, records('a', 'b'))
        const one = await RecordingSubscriber.on(log)
        const other = await RecordingSubscriber.on(log)
        for (const subscriber of [one, other]) {
          await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a', 'b']), patience)
        }
      })

      it('reads nothing until the subscriber seeks', async () => {
        await log.append(0, records('a', 'b', 'c'))
        const subscriber = await RecordingSubscriber.on(log, { from: undefined })
        await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
        await log.append(0, records('d'))
        const sought = await RecordingSubscriber.on(log) // whoever has sought has read it all by now
        await vi.waitFor(() => expect(sought.records(0)).toHaveLength(4), patience)
        expect(subscriber.batches).toEqual([])
        subscriber.seek(0, 2)
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['c', 'd']), patience)
        expect(subscriber.batches[0]?.from).toBe(2)
      })

      it('reads each partition without gap or overlap, what is there and what is appended', async () => {
        for (const partition of partitionsOf(log)) await log.append(partition, records('0', '1', '2'))
        const subscriber = await RecordingSubscriber.on(log)
        for (let next = 3; next < 40; next++) {
          for (const partition of partitionsOf(log)) await log.append(partition, records(String(next)))
        }
        for (const partition of partitionsOf(log)) {
          const all = Array.from({ length: 40 }, (_, i) => String(i))
          await vi.waitFor(() => expect(subscriber.values(partition)).toEqual(all), patience)
          const batches = subscriber.of(partition)
          expect(batches.map(({ from }) => from)).toEqual([0, ...batches.map(({ next }) => next)].slice(0, -1))
          expect(batches.at(-1)?.next).toBe(40)
        }
      })

      it('reads what another object appends', async () => {
        const beside = await fixture.open()
        const subscriber = await RecordingSubscriber.on(log)
        await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
        await beside.append(0, records('from outside'))
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['from outside']), patience)
      })

      it('passes on records of other producers as they are found', async () => {
        await fixture.appendForeign({ key: null, value: null })
        await fixture.appendForeign({ key: Buffer.from([0xff]), value: Buffer.from([0, 0xfe]) })
        const subscriber = await RecordingSubscriber.on(log)
        const found = [
          { offset: 0, key: null, value: null },
          { offset: 1, key: Buffer.from([0xff]), value: Buffer.from([0, 0xfe]) },
        ]
        await vi.waitFor(() => expect(subscriber.records(0)).toEqual(found), patience)
      })

      it('gives the same records again when a batch is not done', async () => {
        await log.append(0, records('a', 'b'))
        const subscriber = new RecordingSubscriber(undefined)
        let refusals = 2
        subscriber.answer = async () => refusals-- <= 0
        const subscription = await log.subscribe(newGroup(), subscriber)
        await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
        subscription.seek(0, 0)
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']), patience)
        await log.append(0, records('c'))
        await vi.waitFor(() => expect(subscriber.values(0).at(-1)).toBe('c'), patience)
        expect(subscriber.values(0)).toHaveLength(7)
      })

      it('comes back to what was not done, however much was read ahead', async () => {
        const long = 'x'.repeat(1500) // so that Kafka does not give all of it at a time
        for (let first = 0; first < 6000; first += 600) {
          await log.append(0, records(...Array.from({ length: 600 }, (_, i) => `${first + i} ${long}`)))
        }
        const subscriber = await RecordingSubscriber.on(log, { from: undefined })
        const done: string[] = []
        let batches = 0
        let refused = 0
        subscriber.answer = async ({ records: read }) => {
          if (batches++ % 3 === 2 && refused++ < 3) return false
          done.push(...read.map(({ value }) => String(value).replace(/ .*/, '')))
          return true
        }
        await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
        subscriber.seek(0, 0)
        await vi.waitFor(() => expect(done.length).toBeGreaterThanOrEqual(6000), patience)
        expect(done).toEqual(Array.from({ length: 6000 }, (_, i) => String(i)))
        expect(batches).toBeGreaterThan(6)
      })

      it('gives batches of one partition one at a time', async () => {
        const subscriber = await RecordingSubscriber.on(log)
        let inHand = 0
        let most = 0
        subscriber.answer = async ({ partition }) => {
          if (partition !== 0) return true
          most = Math.max(most, ++inHand)
          await log.append(0, subscriber.records(0).length < 20 ? records('more') : records('last'))
          subscriber.seek(0, subscriber.batches.at(-1)?.next ?? 0)
          inHand--
          return true
        }
        await log.append(0, records('first'))
        await vi.waitFor(() => expect(subscriber.values(0)).toContain('last'), patience)
        expect(most).toBe(1)
      })
    })

    describe('seek', () => {
      it('goes back and forth, also from within a batch, and takes effect before the next one', async () => {
        await log.append(0, records('0', '1', '2', '3'))
        const subscriber = await RecordingSubscriber.on(log, { from: 2 })
        subscriber.answer = async ({ from }) => {
          if (from === 2) subscriber.seek(0, 1)
          return true
        }
        await vi.waitFor(() => expect(subscriber.of(0).map(({ from }) => from)).toEqual([2, 1]), patience)
        subscriber.seek(0, 3)
        await vi.waitFor(() => expect(subscriber.of(0).map(({ from }) => from)).toEqual([2, 1, 3]), patience)
        await log.append(0, records('4'))
        await vi.waitFor(() => expect(subscriber.of(0).map(({ from }) => from)).toEqual([2, 1, 3, 4]), patience)
      })

      it('to the end reads what is appended next', async () => {
        await log.append(0, records('0', '1'))
        const subscriber = await RecordingSubscriber.on(log, { from: undefined })
        await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
        subscriber.seek(0, 2)
        await log.append(0, records('2'))
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['2']), patience)
      })

      it('past the end reads from the first record, and the batch says so', async () => {
        await log.append(0, records('0', '1'))
        const subscriber = await RecordingSubscriber.on(log, { from: 10 })
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['0', '1']), patience)
        expect(subscriber.batches[0]).toMatchObject({ from: 0, next: 2 })
      })

      it('is ignored for a partition that is not held', async () => {
        const subscriber = await RecordingSubscriber.on(log)
        subscriber.seek(0, 0)
        subscriber.seek(99, 0)
        await log.append(0, records('a'))
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a']), patience)
      })
    })

    describe('close', () => {
      it('of a subscription waits for the batch in hand, and none comes after', async () => {
        const subscriber = await RecordingSubscriber.on(log)
        const hold = Promise.withResolvers<void>()
        const order: string[] = []
        subscriber.answer = async () => {
          await hold.promise
          order.push('batch done')
          return true
        }
        await log.append(0, records('a'))
        await vi.waitFor(() => expect(subscriber.of(0)).toHaveLength(1), patience)
        const closed = subscriber.close().then(() => order.push('closed'))
        await log.append(0, records('b'))
        hold.resolve()
        await closed
        expect(order).toEqual(['batch done', 'closed'])
        const other = await RecordingSubscriber.on(log)
        await vi.waitFor(() => expect(other.values(0)).toEqual(['a', 'b']), patience)
        expect(subscriber.values(0)).toEqual(['a'])
      })

      it('of the log ends its subscriptions', async () => {
        const beside = await fixture.open()
        const subscriber = await RecordingSubscriber.on(log)
        await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
        await log.close()
        await beside.append(0, records('a'))
        const other = await RecordingSubscriber.on(beside)
        await vi.waitFor(() => expect(other.values(0)).toEqual(['a']), patience)
        expect(subscriber.batches).toEqual([])
      })

      it('of the log makes every method unavailable; a second time it does nothing', async () => {
        await log.close()
        await log.close()
        const unavailable = { code: 'event_log_unavailable' }
        await expect(log.append(0, records('a'))).rejects.toMatchObject(unavailable)
        await expect(log.claimBlock()).rejects.toMatchObject(unavailable)
        await expect(log.ends()).rejects.toMatchObject(unavailable)
        await expect(log.subscribe(newGroup(), new RecordingSubscriber(0))).rejects.toMatchObject(unavailable)
        expect(await (await fixture.open()).ends()).toEqual(partitionsOf(log).map(() => 0))
      })

      it('of a subscription that has not been assigned anything yet does not wait for that', async () => {
        const subscriber = await RecordingSubscriber.on(log)
        await subscriber.close()
        expect(subscriber.batches).toEqual([])
      })
    })
  })
}

export function records(...values: string[]): NewRecord[] {
  return values.map((value) => ({ key: 'key', value, headers: {} }))
}

export function partitionsOf(log: EventLog): number[] {
  return Array.from({ length: log.partitions }, (_, partition) => partition)
}

function partitionMetadataOf(partitionId: number) {
  return { partitionId, partitionErrorCode: 0, leader: 1, replicas: [1], isr: [1] }
}
