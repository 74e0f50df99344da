import fc from 'fast-check'
import kafkajs from 'kafkajs'
import { describe, expect, it, vi } from 'vitest'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { type LogUnderTest, partitionsOf, patience, records } from './fixture.ts'

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
      await vi.waitFor(() => expect(subscriber.records(0)).toHaveLength(1000), patience)
      const found = subscriber
        .records(0)
        .map(({ key, value }) => ({ key: String(key), value: String(value), headers: {} }))
      expect(found).toEqual(given)
      expect(subscriber.records(0).map(({ offset }) => offset)).toEqual(given.map((_, i) => i))
    })

    it('appends nothing of a batch in which one record is refused, and works on', async () => {
      await at.log.append(0, records('before'))
      const refusal = at.log.append(0, [...records('a'), at.fixture.refused, ...records('b')])
      await expect(refusal).rejects.toMatchObject({ code: 'event_log_unavailable' })
      expect(await at.log.append(0, records('after'))).toBe(1)
      const subscriber = await RecordingSubscriber.on(at.log)
      await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['before', 'after']), patience)
    })

    it('is durable: another object reads it after this one is closed', async () => {
      await at.log.append(0, records('a', 'b'))
      await at.log.close()
      const reopened = await at.fixture.open()
      expect(await reopened.append(0, records('c'))).toBe(2)
      const subscriber = await RecordingSubscriber.on(reopened)
      await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a', 'b', 'c']), patience)
    })
  })

  describe('logId', () => {
    it('is the same for every object on the log, now and after all were closed', async () => {
      const beside = await at.fixture.open()
      expect(beside.logId).toBe(at.log.logId)
      await Promise.all([at.log.close(), beside.close()])
      expect((await at.fixture.open()).logId).toBe(at.log.logId)
    })

    it('is another one for another log', async () => {
      const other = await at.openFixture()
      expect(other.log.logId).not.toBe(at.log.logId)
      expect(at.log.logId).not.toBe('')
      await other.remove()
    })
  })

  describe('partitionFor', () => {
    it("is Kafka's default partitioner", () => {
      const byKafkajs = kafkajs.Partitioners.DefaultPartitioner()
      const partitionMetadata = partitionsOf(at.log).map((partitionId) => partitionMetadataOf(partitionId))
      const expected = (key: string) => byKafkajs({ topic: 't', partitionMetadata, message: { key, value: null } })
      fc.assert(fc.property(fc.string({ unit: 'binary' }), (key) => at.log.partitionFor(key) === expected(key)))
      fc.assert(fc.property(fc.nat(), (id) => at.log.partitionFor(String(id)) === expected(String(id))))
    })
  })

  describe('reserveIdBlock', () => {
    it('never gives a number twice: at once, from two objects, nor after reopening', async () => {
      const beside = await at.fixture.open()
      const claims = Array.from({ length: 20 }, (_, i) => (i % 2 ? at.log : beside).reserveIdBlock())
      const first = await Promise.all(claims)
      await Promise.all([at.log.close(), beside.close()])
      const reopened = await at.fixture.open()
      const all = [...first, await reopened.reserveIdBlock(), await reopened.reserveIdBlock()]
      expect(new Set(all).size).toBe(all.length)
      expect(Math.min(...all)).toBeGreaterThanOrEqual(1)
    })

    it('leaves the records alone', async () => {
      await at.log.reserveIdBlock()
      expect(await at.log.append(0, records('a'))).toBe(0)
    })
  })

  describe('ends', () => {
    it('is 0 for each partition of an empty log', async () => {
      expect(await at.log.endOffsets()).toEqual(partitionsOf(at.log).map(() => 0))
    })

    it('is above every append acknowledged before the call, here or through another object', async () => {
      const beside = await at.fixture.open()
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

function partitionMetadataOf(partitionId: number) {
  return { partitionId, partitionErrorCode: 0, leader: 1, replicas: [1], isr: [1] }
}
