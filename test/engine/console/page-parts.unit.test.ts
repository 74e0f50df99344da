import { expect, it } from 'vitest'

/** What the pages write, as the browser has it. */
interface Parts {
  several(count: number | undefined, one: string): string
  moment(at: unknown): string
}
const { several, moment }: Parts = await import(
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

it.each(['yesterday', '', '+275761-01-01T00:00:00Z', 5, null, 12345678901234567890n, true])(
  '%s is no time, and shown as it is',
  (at) => expect(moment(at)).toBe(String(at)),
)

it('what has no text of its own is shown as JSON', () => {
  expect(moment({ toString: 1, valueOf: 1n })).toBe('{\n  "toString": 1,\n  "valueOf": 1\n}')
})

it('a moment has its day, but for today', () => {
  const now = new Date()
  expect(moment(now.toISOString())).toMatch(/^\D*\d\d\D\d\d\D\d\d\D*$/)
  expect(moment('2020-02-29T12:00:00Z')).toContain('2020')
  expect(moment('9999-06-30T12:00:00Z')).toContain('9999')
})
