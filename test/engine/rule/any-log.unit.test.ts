import fc from 'fast-check'
import { expect, it } from 'vitest'
import { anyLog } from '../projector/any-log.ts'
import { project } from '../projector/projecting.ts'

const anyCuts = fc.array(fc.integer({ min: 1, max: 39 }), { maxLength: 10 })

it('whatever is in the log, the read models are the same however it is cut into batches', async () => {
  await fc.assert(
    fc.asyncProperty(anyLog({ isSound: false }), anyCuts, async (log, cuts) => {
      const one = await project(log)
      expect(await (await project(log, cuts)).read()).toEqual(await one.read())
      const counts = Object.values(one.counts())
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(log.length)
    }),
    { numRuns: 300 },
  )
})
