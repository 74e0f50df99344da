import { describe, expect, it } from 'vitest'
import { newGroup, RecordingSubscriber } from '../recording-subscriber.ts'
import { eventually, type LogUnderTest, partitionsOf, records } from './fixture.ts'

export function closing(at: LogUnderTest): void {
  describe('close', () => {
    it('of a subscription waits for the batch in hand, and none comes after', async () => {
      const subscriber = await RecordingSubscriber.on(at.log)
      const hold = Promise.withResolvers<void>()
      const order: string[] = []
      subscriber.answer = async () => {
        await hold.promise
        order.push('batch done')
        return true
      }
      await at.log.append(0, records('a'))
      await eventually(() => subscriber.of(0).length, 1)
      const closed = subscriber.close().then(() => order.push('closed'))
      await at.log.append(0, records('b'))
      hold.resolve()
      await closed
      expect(order).toEqual(['batch done', 'closed'])
      const other = await RecordingSubscriber.on(at.log)
      await eventually(() => other.values(0), ['a', 'b'])
      expect(subscriber.values(0)).toEqual(['a'])
    })

    it('of the log ends its subscriptions', async () => {
      const beside = await at.open()
      const subscriber = await RecordingSubscriber.on(at.log)
      await eventually(() => subscriber.held[0], 0)
      await at.log.close()
      await beside.append(0, records('a'))
      const other = await RecordingSubscriber.on(beside)
      await eventually(() => other.values(0), ['a'])
      expect(subscriber.batches).toEqual([])
    })

    it('of the log makes every method unavailable; a second time it does nothing', async () => {
      await at.log.close()
      await at.log.close()
      const unavailable = { code: 'event_log_unavailable' }
      await expect(at.log.append(0, records('a'))).rejects.toMatchObject(unavailable)
      await expect(at.log.reserveIdBlock()).rejects.toMatchObject(unavailable)
      await expect(at.log.read(0, 0, 1)).rejects.toMatchObject(unavailable)
      await expect(at.log.endOffsets()).rejects.toMatchObject(unavailable)
      await expect(at.log.ownersIn(newGroup())).rejects.toMatchObject(unavailable)
      await expect(at.log.subscribe(newGroup(), new RecordingSubscriber(0))).rejects.toMatchObject(unavailable)
      expect(await (await at.open()).endOffsets()).toEqual(partitionsOf(at.log).map(() => 0))
    })

    it('of a subscription that has not been assigned anything yet does not wait for that', async () => {
      const subscriber = await RecordingSubscriber.on(at.log)
      await subscriber.close()
      expect(subscriber.batches).toEqual([])
    })
  })
}
