import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../../lib/any-character.ts'
import { partitionByKafkajs } from '../kafka/partition-by-kafkajs.ts'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { eventually, type LogUnderTest, partitionsOf, records } from './fixture.ts'

export function appending(at: LogUnderTest): void {
  describe('append', () => {
    it('gives the first record of each partition offset 0 and counts on from there', async () => {
      for (const partition of partitionsOf(at.log)) {
        expect(await at.log.append(partition, records('a', 'b', 'c'))).toBe(0)
        expect(await at.log.append(partition, records('d'))).toBe(3)
        expect(await at.log.append(partition, records('e', 'f'))).toBe(4)
      }
    })

    it('keeps 1000 records in array order, with key and value as given', async () => {
      const given = Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}`, value: `ü${i}`, headers: {} }))
      await at.log.append(0, given)
      const subscriber = await RecordingSubscriber.on(at.log)
      await eventually(() => subscriber.records(0).length, 1000)
      const found = subscriber.records(0).map(({ offset, key, value }) => [offset, String(key), String(value)])
      expect(found).toEqual(given.map(({ key, value }, index) => [index, key, value]))
    })

    it('appends nothing of a batch in which one record is refused, and works on', async () => {
      await at.log.append(0, records('before'))
      const refusal = at.log.append(0, [...records('a'), at.refused, ...records('b')])
      await expect(refusal).rejects.toMatchObject({ code: 'event_log_unavailable' })
      expect(await at.log.append(0, records('after'))).toBe(1)
      const subscriber = await RecordingSubscriber.on(at.log)
      await eventually(() => subscriber.values(0), ['before', 'after'])
    })

    it('is durable: another object reads it after this one is closed', async () => {
      await at.log.append(0, records('a', 'b'))
      await at.log.close()
      const reopened = await at.open()
      expect(await reopened.append(0, records('c'))).toBe(2)
      const subscriber = await RecordingSubscriber.on(reopened)
      await eventually(() => subscriber.values(0), ['a', 'b', 'c'])
    })
  })

  describe('logId', () => {
    it('is the same for every object on the log, now and after all were closed', async () => {
      const beside = await at.open()
      expect(beside.logId).toBe(at.log.logId)
      await Promise.all([at.log.close(), beside.close()])
      expect((await at.open()).logId).toBe(at.log.logId)
    })

    it('is another one for another log', async () => {
      const other = await at.openFixture()
      expect(other.log.logId).not.toBe(at.log.logId)
      expect(at.log.logId).not.toBe('')
    })
  })

  it("partitionFor is Kafka's default partitioner", () => {
    const expected = (key: string) => partitionByKafkajs(key, at.log.partitions)
    const keys = fc.oneof(fc.string({ unit: anyCharacter }), fc.nat().map(String))
    fc.assert(fc.property(keys, (key) => at.log.partitionFor(key) === expected(key)))
  })

  describe('reserveIdBlock', () => {
    it('never gives a number twice: at once, from two objects, nor after reopening', async () => {
      const beside = await at.open()
      const reservations = Array.from({ length: 20 }, (_, i) => (i % 2 ? at.log : beside).reserveIdBlock())
      const first = await Promise.all(reservations)
      await Promise.all([at.log.close(), beside.close()])
      const reopened = await at.open()
      const all = [...first, await reopened.reserveIdBlock(), await reopened.reserveIdBlock()]
      expect(new Set(all).size).toBe(all.length)
      expect(Math.min(...all)).toBeGreaterThanOrEqual(1)
    })

    it('leaves the records alone', async () => {
      await at.log.reserveIdBlock()
      expect(await at.log.append(0, records('a'))).toBe(0)
    })
  })

  describe('endOffsets', () => {
    it('is 0 for each partition of an empty log', async () => {
      expect(await at.log.endOffsets()).toEqual(partitionsOf(at.log).map(() => 0))
    })

    it('is above every append acknowledged before the call, here or through another object', async () => {
      const beside = await at.open()
      for (let appended = 0; appended < 5; appended++) {
        const earlier = at.log.endOffsets() // one under way must not answer for later ones
        await at.log.append(0, records('a'))
        const [[mine], [theirs]] = await Promise.all([at.log.endOffsets(), beside.endOffsets()])
        expect([mine, theirs]).toEqual([appended + 1, appended + 1])
        await earlier
      }
    })

    it('counts each partition by itself', async () => {
      for (const partition of partitionsOf(at.log)) {
        await at.log.append(partition, records(...Array.from({ length: partition + 1 }, () => 'x')))
      }
      expect(await at.log.endOffsets()).toEqual(partitionsOf(at.log).map((partition) => partition + 1))
    })
  })
}
