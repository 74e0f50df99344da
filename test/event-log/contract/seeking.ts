import { describe, expect, it, vi } from 'vitest'
import { RecordingSubscriber } from '../recording-subscriber.ts'
import { type LogUnderTest, patience, records } from './fixture.ts'

export function seeking(at: LogUnderTest): void {
  describe('seek', () => {
    it('goes back and forth, also from within a batch, and takes effect before the next one', async () => {
      await at.log.append(0, records('0', '1', '2', '3'))
      const subscriber = await RecordingSubscriber.on(at.log, { from: 2 })
      subscriber.answer = async ({ from }) => {
        if (from === 2) subscriber.seek(0, 1)
        return true
      }
      await vi.waitFor(() => expect(subscriber.of(0).map(({ from }) => from)).toEqual([2, 1]), patience)
      subscriber.seek(0, 3)
      await vi.waitFor(() => expect(subscriber.of(0).map(({ from }) => from)).toEqual([2, 1, 3]), patience)
      await at.log.append(0, records('4'))
      await vi.waitFor(() => expect(subscriber.of(0).map(({ from }) => from)).toEqual([2, 1, 3, 4]), patience)
    })

    it('to the end reads what is appended next', async () => {
      await at.log.append(0, records('0', '1'))
      const subscriber = await RecordingSubscriber.on(at.log, { from: undefined })
      await vi.waitFor(() => expect(subscriber.held).toContain(0), patience)
      subscriber.seek(0, 2)
      await at.log.append(0, records('2'))
      await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['2']), patience)
    })

    it('past the end reads from the first record, and the batch says so', async () => {
      await at.log.append(0, records('0', '1'))
      const subscriber = await RecordingSubscriber.on(at.log, { from: 10 })
      await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['0', '1']), patience)
      expect(subscriber.batches[0]).toMatchObject({ from: 0, next: 2 })
    })

    it('is ignored for a partition that is not held', async () => {
      const subscriber = await RecordingSubscriber.on(at.log)
      subscriber.seek(0, 0)
      subscriber.seek(99, 0)
      await at.log.append(0, records('a'))
      await vi.waitFor(() => expect(subscriber.values(0)).toEqual(['a']), patience)
    })
  })
}
