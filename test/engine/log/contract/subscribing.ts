import { describe, expect, it, vi } from 'vitest'
import { processName } from '../../../../src/engine/lib/operating/process-name.ts'
import { newGroup, RecordingSubscriber } from '../recording-subscriber.ts'
import { eventually, type LogUnderTest, partitionsOf, patience, records } from './fixture.ts'

export function subscribing(at: LogUnderTest): void {
  describe('subscribe', () => {
    it('tells the first assignment only once the subscriber has its subscription', async () => {
      const order: string[] = []
      const assigned = () => order.push('assigned')
      await at.log.subscribe(newGroup(), { assigned, batch: async () => true })
      order.push('subscribed')
      await eventually(() => order, ['subscribed', 'assigned'])
    })

    it('shares the partitions out in a group; who stays takes those of who closes', async () => {
      const group = newGroup()
      const beside = await at.open()
      const one = await RecordingSubscriber.on(at.log, { group })
      await eventually(() => one.held, partitionsOf(at.log))
      const other = await RecordingSubscriber.on(at.log.partitions > 1 ? beside : at.log, { group })
      await vi.waitFor(() => expect(other.assignments.length).toBeGreaterThan(0), patience)
      await eventually(() => [...one.held, ...other.held].sort(), partitionsOf(at.log))
      await one.close()
      await eventually(() => other.held, partitionsOf(at.log))
      await at.log.append(0, records('after'))
      await eventually(() => other.values(0), ['after'])
    })

    it('tells which process has each partition of a group', async () => {
      const group = newGroup()
      expect(await at.log.ownersIn(group)).toEqual(new Map())
      const one = await RecordingSubscriber.on(at.log, { group })
      const byThisProcess = new Map(partitionsOf(at.log).map((partition) => [partition, processName]))
      await eventually(() => at.log.ownersIn(group), byThisProcess)
      expect(await at.log.ownersIn(newGroup())).toEqual(new Map())
      await one.close()
      await eventually(() => at.log.ownersIn(group), new Map())
    })

    it('gives two groups the whole log each', async () => {
      await at.log.append(0, records('a', 'b'))
      const one = await RecordingSubscriber.on(at.log)
      const other = await RecordingSubscriber.on(at.log)
      await eventually(
        () => [one.values(0), other.values(0)],
        [
          ['a', 'b'],
          ['a', 'b'],
        ],
      )
    })

    it('reads nothing until the subscriber seeks', async () => {
      await at.log.append(0, records('a', 'b', 'c'))
      const subscriber = await RecordingSubscriber.holding(at.log)
      await at.log.append(0, records('d'))
      const sought = await RecordingSubscriber.on(at.log) // whoever has sought has read it all by now
      await eventually(() => sought.records(0).length, 4)
      expect(subscriber.batches).toEqual([])
      subscriber.seek(0, 2)
      await eventually(() => subscriber.values(0), ['c', 'd'])
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
        await eventually(() => subscriber.values(partition), all)
        const batches = subscriber.of(partition)
        expect(batches.map(({ from }) => from)).toEqual([0, ...batches.map(({ next }) => next)].slice(0, -1))
        expect(batches.at(-1)?.next).toBe(40)
      }
      expect(at.log.undecodable).toEqual([])
    })

    it('reads what another object appends', async () => {
      const beside = await at.open()
      const subscriber = await RecordingSubscriber.on(at.log)
      await eventually(() => subscriber.held[0], 0)
      await beside.append(0, records('from outside'))
      await eventually(() => subscriber.values(0), ['from outside'])
    })

    it('passes on records of other producers as they are found', async () => {
      await at.appendForeign({ key: null, value: null })
      await at.appendForeign({ key: Buffer.from([0xff]), value: Buffer.from([0, 0xfe]) })
      const subscriber = await RecordingSubscriber.on(at.log)
      const bytes = { offset: 1, key: Buffer.from([0xff]), value: Buffer.from([0, 0xfe]) }
      await eventually(() => subscriber.records(0), [{ offset: 0, key: null, value: null }, bytes])
    })

    it('gives the same records again when a batch is not done', async () => {
      await at.log.append(0, records('a', 'b'))
      const subscriber = await RecordingSubscriber.holding(at.log)
      let refusals = 2
      subscriber.answer = async () => refusals-- <= 0
      subscriber.seek(0, 0)
      await eventually(() => subscriber.values(0), ['a', 'b', 'a', 'b', 'a', 'b'])
      await at.log.append(0, records('c'))
      await eventually(() => subscriber.values(0), ['a', 'b', 'a', 'b', 'a', 'b', 'c'])
    })

    it('returns to a batch that was not done, however much was read ahead', async () => {
      const long = 'x'.repeat(1500) // so that Kafka does not give all of it at a time
      for (let first = 0; first < 6000; first += 600) {
        await at.log.append(0, records(...Array.from({ length: 600 }, (_, i) => `${first + i} ${long}`)))
      }
      const subscriber = await RecordingSubscriber.holding(at.log)
      const done: string[] = []
      let batches = 0
      let refused = 0
      subscriber.answer = async ({ records: read }) => {
        if (batches++ % 3 === 2 && refused++ < 3) return false
        done.push(...read.map(({ value }) => String(value).replace(/ .*/, '')))
        return true
      }
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

  describe('seek', () => {
    it('goes back and forth, also from within a batch, and takes effect before the next one', async () => {
      await at.log.append(0, records('0', '1', '2', '3'))
      const subscriber = await RecordingSubscriber.on(at.log, { from: 2 })
      subscriber.answer = async ({ from }) => {
        if (from === 2) subscriber.seek(0, 1)
        return true
      }
      await eventually(() => subscriber.of(0).map(({ from }) => from), [2, 1])
      subscriber.seek(0, 3)
      await eventually(() => subscriber.of(0).map(({ from }) => from), [2, 1, 3])
      await at.log.append(0, records('4'))
      await eventually(() => subscriber.of(0).map(({ from }) => from), [2, 1, 3, 4])
    })

    it('to the end reads what is appended next', async () => {
      await at.log.append(0, records('0', '1'))
      const subscriber = await RecordingSubscriber.holding(at.log)
      subscriber.seek(0, 2)
      await at.log.append(0, records('2'))
      await eventually(() => subscriber.values(0), ['2'])
    })

    it('past the end reads from the first record, and the batch says so', async () => {
      await at.log.append(0, records('0', '1'))
      const subscriber = await RecordingSubscriber.on(at.log, { from: 10 })
      await eventually(() => subscriber.values(0), ['0', '1'])
      expect(subscriber.batches[0]).toMatchObject({ from: 0, next: 2 })
    })

    it('is ignored for a partition that is not assigned', async () => {
      const subscriber = await RecordingSubscriber.on(at.log)
      subscriber.seek(0, 0)
      subscriber.seek(99, 0)
      await at.log.append(0, records('a'))
      await eventually(() => subscriber.values(0), ['a'])
    })
  })
}
