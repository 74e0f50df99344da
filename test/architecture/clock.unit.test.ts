import { expect, it } from 'vitest'
import { readSources } from './imports.ts'

// It jumps when somebody sets the clock; performance.now() and timers do not.
const timeOfDay = /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)|timeOrigin|\bTemporal\.Now\b/

it('the time of day is read in one file', () => {
  const readers = [...readSources(['src', 'projections'])].filter(([, text]) => timeOfDay.test(text))
  expect(readers.map(([file]) => file)).toEqual(['src/engine/lib/clock.ts'])
})

it.each(['Date.now() + limitMs', 'now: Date.now,', 'since = new Date()', 'performance.timeOrigin'])(
  'is found where it is read: %s',
  (text) => expect(text).toMatch(timeOfDay),
)
