import fc from 'fast-check'
import { expect, it } from 'vitest'
import { OffsetQueue } from '../../../src/engine/commands/offset-queue.ts'

it('an offset queue has what was added and not removed, in the order of the offsets', () => {
  const step = fc.record({ offset: fc.nat(4000), adds: fc.boolean(), first: fc.boolean() })
  const row = fc.integer({ min: 0, max: 2500 })
  fc.assert(
    fc.property(row, row, fc.array(step, { maxLength: 40 }), (added, taken, steps) => {
      const queue = new OffsetQueue<{ position: { offset: number } }>()
      let entries: { position: { offset: number } }[] = []
      const entryAt = (offset: number) => ({ position: { offset } })
      const expectSame = () => expect([queue.first, queue.size]).toEqual([entries[0], entries.length])
      function add(offset: number): void {
        const entry = entryAt(offset)
        queue.add(entry)
        entries = [...entries, entry].sort((one, other) => one.position.offset - other.position.offset)
      }
      for (let offset = 0; offset < added; offset++) entries.push(entryAt(offset))
      for (const entry of entries) queue.add(entry)
      for (const entry of entries.splice(0, taken)) queue.remove(entry)
      for (const { offset, adds, first } of steps) {
        const entry = first ? entries[0] : entries[offset % entries.length]
        if (adds || entry === undefined) add(offset)
        else {
          queue.remove(entry)
          queue.remove(entry)
          entries = entries.filter((each) => each !== entry)
        }
        expectSame()
      }
      for (const entry of [...entries]) {
        expectSame()
        queue.remove(entry)
        entries.shift()
      }
      expectSame()
    }),
    { numRuns: 100 },
  )
})
