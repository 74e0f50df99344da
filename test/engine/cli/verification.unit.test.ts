import { expect, it } from 'vitest'
import { describeVerification } from '../../../src/engine/cli/read-models.ts'

/** What is told behind the differences that are shown. */
function toldOf(kept: number, differenceCount: number): readonly string[] {
  const differences = Array.from({ length: kept }, (_, i) => {
    return { where: 'seats', id: `${i}`, expected: '{}', found: undefined }
  })
  const lines = describeVerification({ generation: 'g', differences, differenceCount, compared: 5000 }).split('\n')
  return lines.slice(3 * Math.min(kept, 50))
}

it.each<[kept: number, count: number, ...told: string[]]>([
  [0, 0, 'Generation g: 5000 compared, all as the log says.'],
  [50, 50, 'Generation g: 5000 compared, 50 not as the log says.'],
  [1000, 1000, '… and 950 more: --json has them all.', 'Generation g: 5000 compared, 1000 not as the log says.'],
  [1000, 3000, '… and 2950 more: --json has the first 1000.', 'Generation g: 5000 compared, 3000 not as the log says.'],
  [7, 3000, '… and 2993 more: --json has the first 7.', 'Generation g: 5000 compared, 3000 not as the log says.'],
])('verify tells of %i differences that it kept, of %i', (kept, count, ...told) => {
  expect(toldOf(kept, count)).toEqual(told)
})
