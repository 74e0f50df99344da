import { describe, expect, it } from 'vitest'
import { type ReadRecords, readMax } from '../../../../src/engine/log/event-log.ts'
import { type LogUnderTest, partitionsOf, records } from './fixture.ts'

const values = ({ records: found }: ReadRecords) => found.map(({ offset, value }) => `${offset} ${value}`)

export function reading(at: LogUnderTest): void {
  describe('read', () => {
    it('gives the records from an offset on, as many as it may, and where to read on', async () => {
      for (const partition of partitionsOf(at.log)) {
        await at.log.append(partition, records('a', 'b', 'c'))
        await at.log.append(partition, records('d'))
        expect(values(await at.log.read(partition, 0, 2))).toEqual(['0 a', '1 b'])
        expect(await at.log.read(partition, 1, 1)).toMatchObject({ next: 2, records: [{ key: Buffer.from('key') }] })
      }
    })

    it('comes to every record, however they were appended', async () => {
      await at.log.append(0, records('a', 'b', 'c'))
      await at.log.append(0, records('d'))
      await at.appendForeign({ key: null, value: null })
      const found: string[] = []
      for (let next = 1; next < 5; ) {
        const read = await at.log.read(0, next, readMax)
        expect(read.next).toBeGreaterThan(next)
        found.push(...values(read))
        next = read.next
      }
      expect(found).toEqual(['1 b', '2 c', '3 d', '4 null'])
    })

    it('finds nothing behind the last one, however far', async () => {
      await at.log.append(0, records('a'))
      for (const behind of [0, 1, 1_000_000]) {
        expect(await at.log.read(0, 1 + behind, 10)).toEqual({ records: [], next: 1 + behind })
        expect(values(await at.log.read(0, 0, 10))).toEqual(['0 a'])
      }
    })
  })
}
