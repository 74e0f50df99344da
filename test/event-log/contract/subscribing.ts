import { describe, expect, it, vi } from 'vitest'
import { newGroup, RecordingSubscriber } from '../recording-subscriber.ts'
import { type LogUnderTest, partitionsOf, patience, records } from './fixture.ts'

export function subscribing(at: LogUnderTest): void {
  describe('subscribe', () => {
    it('gives one member of a group every partition', async () => {
      const subscriber = await RecordingSubscriber.on(at.log)
      await vi.waitFor(() => expect(subscriber.held).toEqual(partitionsOf(at.log)), patience)
    })

    it('tells the first assignment only once the subscriber has its subscription', async () => {
      const order: string[] = []
      const assigned = () => order.push('assigned')
      await at.log.subscribe(newGroup(), { assigned, batch: async () => true })
      order.push('subscribed')
      await vi.waitFor(() => expect(order).toEqual(['subscribed', 'assigned']), patience)
    })

    it('shares the partitions out in a group; who stays takes those of who closes', async () => {
      const group = newGroup()
      const beside = await at.fixture.open()
      const one = await RecordingSubscriber.on(at.log, { group })
      await vi.waitFor(() => expect(one.held).toEqual(partitionsOf(at.log)), patience)
      const other = await RecordingSubscriber.on(at.log.partitions > 1 ? beside : at.log, { group })
      await vi.waitFor(() => expect(other.assignments.length).toBeGreaterThan(0), patience)
      await vi.waitFor(() => expect([...one.held, ...other.held].sort()).toEqual(partitionsOf(at.log)), patience)
      await one.close()
      await vi.waitFor(() => expect(other.held).toEqual(partitionsOf(at.log)), patience)
      await at.log.append(0, records('after'))
      await vi.waitFor(() => expect(other.values(0)).toEqual(['after']), patience)
    })

    it('gives two groups the whole log each', async () => {
      await at.log.append(0, records('a', 'b'))
      const one = await RecordingSubscriber.on(at.log)
      const other = await RecordingSubscriber.on(at.log)
      for (const subscriber of [one, other]) {
        await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a', 'b']), patience)
      }
    })

    it('reads nothing until the subscriber seeks', async () => {
      await at.log.append(0, records('a', 'b', 'c'))
      const subscriber = await RecordingSubscriber.on(at.log, { from: undefined })
      await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
      await at.log.append(0, records('d'))
      const sought = await RecordingSubscriber.on(at.log) // whoever has sought has read it all by now
      await vi.waitFor(() => expect(sought.records(0)).toHaveLength(4), patience)
      expect(subscriber.batches).toEqual([])
      subscriber.seek(0, 2)
      await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['c', 'd']), patience)
      expect(subscriber.batches[0]?.from).toBe(2)
    })

    it('reads each partition without gap or overlap, what is there and what is appended', async () => {
      for (const partition of partitionsOf(at.log)) await at.log.append(partition, records('0', '1', '2'))
      const subscriber = await RecordingSubscriber.on(at.log)
      for (let next = 3; next < 40; next++) {
        for (const partition of partitionsOf(at.log)) await at.log.append(partition, records(String(next)))
      }
      for (const partition of partitionsOf(at.log)) {
        const all = Array.from({ length: 40 }, (_, i) => String(i))
        await vi.waitFor(() => expect(subscriber.values(partition)).toEqual(all), patience)
        const batches = subscriber.of(partition)
        expect(batches.map(({ from }) => from)).toEqual([0, ...batches.map(({ next }) => next)].slice(0, -1))
        expect(batches.at(-1)?.next).toBe(40)
      }
    })

    it('reads what another object appends', async () => {
      const beside = await at.fixture.open()
      const subscriber = await RecordingSubscriber.on(at.log)
      await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
      await beside.append(0, records('from outside'))
      await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['from outside']), patience)
    })

    it('passes on records of other producers as they are found', async () => {
      await at.fixture.appendForeign({ key: null, value: null })
      await at.fixture.appendForeign({ key: Buffer.from([0xff]), value: Buffer.from([0, 0xfe]) })
      const subscriber = await RecordingSubscriber.on(at.log)
      const found = [
        { offset: 0, key: null, value: null },
        { offset: 1, key: Buffer.from([0xff]), value: Buffer.from([0, 0xfe]) },
      ]
      await vi.waitFor(() => expect(subscriber.records(0)).toEqual(found), patience)
    })

    it('gives the same records again when a batch is not done', async () => {
      await at.log.append(0, records('a', 'b'))
      const subscriber = new RecordingSubscriber(undefined)
      let refusals = 2
      subscriber.answer = async () => refusals-- <= 0
      const subscription = await at.log.subscribe(newGroup(), subscriber)
      await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
      subscription.seek(0, 0)
      await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a', 'b', 'a', 'b', 'a', 'b']), patience)
      await at.log.append(0, records('c'))
      await vi.waitFor(() => expect(subscriber.values(0).at(-1)).toBe('c'), patience)
      expect(subscriber.values(0)).toHaveLength(7)
    })

    it('comes back to what was not done, however much was read ahead', async () => {
      const long = 'x'.repeat(1500) // so that Kafka does not give all of it at a time
      for (let first = 0; first < 6000; first += 600) {
        await at.log.append(0, records(...Array.from({ length: 600 }, (_, i) => `${first + i} ${long}`)))
      }
      const subscriber = await RecordingSubscriber.on(at.log, { from: undefined })
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
      const subscriber = await RecordingSubscriber.on(at.log)
      let inHand = 0
      let most = 0
      subscriber.answer = async ({ partition }) => {
        if (partition !== 0) return true
        most = Math.max(most, ++inHand)
        await at.log.append(0, subscriber.records(0).length < 20 ? records('more') : records('last'))
        subscriber.seek(0, subscriber.batches.at(-1)?.next ?? 0)
        inHand--
        return true
      }
      await at.log.append(0, records('first'))
      await vi.waitFor(() => expect(subscriber.values(0)).toContain('last'), patience)
      expect(most).toBe(1)
    })
  })
}
