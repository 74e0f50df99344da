import { expect, it } from 'vitest'

/** What the pages count by, as the browser has it. */
const { several }: { several(count: number | undefined, one: string): string } = await import(
  new URL('../../../src/engine/console/page/parts.js', import.meta.url).href
)

it.each([
  [0, 'events'],
  [1, 'event'],
  [2, 'events'],
  [undefined, 'events'],
])('%s of them are so many %s', (count, words) => {
  expect(several(count, 'event')).toBe(words)
})
