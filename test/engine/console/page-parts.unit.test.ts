import { expect, it } from 'vitest'
import type { Kind } from '../../../src/engine/console/answers.ts'

/** What the pages write, as the browser has it. */
interface Parts {
  several(count: number | undefined, one: string): string
  moment(at: unknown): string
}
/** What they say of streams. */
interface Kinds {
  titleOf(kinds: readonly Kind[], stream: string): string
  anyOf(kinds: readonly Kind[]): string
  isStream(kinds: readonly Kind[], text: string): boolean
}
const pageFile = (name: string) => import(new URL(`../../../src/engine/console/page/${name}`, import.meta.url).href)
const { several, moment }: Parts = await pageFile('parts.js')
const { titleOf, anyOf, isStream }: Kinds = await pageFile('kinds.js')

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

const seats: Kind = { noun: 'seat', prefix: '' }
const plays: Kind = { noun: 'play', prefix: 'plays/' }

it.each<[kinds: readonly Kind[], any: string, streams: Record<string, string>]>([
  [[seats], 'seat', { '7': 'seat 7' }],
  [[seats, plays], 'seat or play', { '7': 'seat 7', 'plays/7': 'play 7' }],
])('a stream is told by its kind', (kinds, any, streams) => {
  expect(anyOf(kinds)).toBe(any)
  for (const [stream, title] of Object.entries(streams))
    expect([titleOf(kinds, stream), isStream(kinds, stream)]).toEqual([title, true])
  for (const none of [
    '',
    'x',
    '-7',
    '7 ',
    ' 7',
    '7/7',
    'plays',
    'plays/',
    'plays/x',
    'plays7',
    'seats/7',
    '/7',
    'plays/7/7',
  ])
    expect([none, isStream(kinds, none)]).toEqual([none, false])
})

it('what is of no kind of several is none of one', () => expect(isStream([seats], 'plays/7')).toBe(false))
