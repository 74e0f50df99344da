import type { CDPSession, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { expectSays, hasBrowser, signIn, useConsole } from './console-page.ts'
import { startService } from './service.ts'

/**
 * Runs in the page before its own scripts: time passes as `runHours` says, and the service answers at once, with another
 * sample and other events each time. Every pause is ten times as long as the page asks for, so that a day takes seconds; it
 * still asks thousands of times.
 */
const simulated = `
  let now = 1.8e12
  let timers = []
  let count = 0
  Date.now = () => now
  window.setTimeout = (work, ms = 0) => (timers.push({ id: ++count, at: now + ms * 10, work }), count)
  window.clearTimeout = (id) => { timers = timers.filter((timer) => timer.id !== id) }
  window.runHours = async (hours) => {
    const end = now + hours * 3_600_000
    for (;;) {
      timers.sort((one, other) => one.at - other.at || one.id - other.id)
      if (!(timers[0]?.at <= end)) break
      const { at, work } = timers.shift()
      now = at
      work()
      await new Promise((resolve) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = resolve; port2.postMessage(0) })
    }
    now = end
  }
  const partitions = [{ partition: 0, events: 0, seconds: 0, checkpoint: { next: 7, last: null, counts: { parked: 0 } } }]
  const answers = {
    status: () => ({
      service: { title: 'Simulated', kinds: [{ noun: 'pet', prefix: '' }], types: ['a.B.v1'] },
      process: { name: 'one', role: 'all', release: '1.0.0', startedAt: 1 },
      problems: now % 60_000 < 5000 ? [{ code: 'behind', what: 'Behind ' + now, remedy: 'Wait.', runbook: 'Scaling', since: now }] : [],
      lag: { status: 'known', generation: 'one', partitions },
    }),
    figures: () => ({
      everyMs: 5000,
      samples: [{ at: now, appended: now % 100, projected: now % 90, lagEvents: 0, requests: 3, p50: 1, p99: 2, errors: { conflict: 1 } }],
      marks: Array.from({ length: 100 }, (_, i) => ({ at: now - i * 1000, what: 'mark ' + (now - i) })),
    }),
  }
  answers.published = () => [
    { publisher: 'events', topics: ['a.published'], problems: [], told: now, lag: now % 9, filling: [], waiting: 0, owners: ['one'] },
    { publisher: 'documents', topics: ['a.documents.b'], problems: [], told: now, lag: 0, filling: ['b, up to id ' + now], waiting: 0, owners: ['one'] },
  ]
  const event = () => ({ id: String(now), type: 'a.B.v1', subject: String(++count), time: new Date(now).toISOString(), data: { now } })
  answers.events = () => ({ before: String(++count), events: Array.from({ length: 50 }, event) })
  const read = () => new Promise((resolve) => setTimeout(() => resolve({ value: 'data: ' + JSON.stringify({ leftOut: 3, after: String(now), events: [event(), event()] }) + '\\n\\n' }), 10_000))
  window.fetch = async (url) => {
    const name = new URL(url).pathname.split('/').at(-1)
    const headers = { get: (header) => (header === 'content-type' ? 'application/json' : null) }
    const body = { pipeThrough: () => ({ getReader: () => ({ read }) }) }
    return { ok: true, status: 200, headers, body, text: async () => JSON.stringify(answers[name]?.() ?? {}) }
  }
`

interface Held {
  readonly bytes: number
  readonly nodes: number
}
async function heldBy(session: CDPSession): Promise<Held> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  const { nodes } = await session.send('Memory.getDOMCounters')
  return { bytes: usedSize, nodes }
}

describe.skipIf(!hasBrowser)('a console that is open for a day', () => {
  const openConsole = useConsole()
  const runHours = (page: Page, hours: number) => page.evaluate(`runHours(${hours})`)

  it.each([
    ['Overview', 'All well|Something is wrong'],
    ['Events', 'A sample: [0-9,]+ more are not shown'],
  ])(
    'holds no more than after six hours: %s',
    async (name, says) => {
      const { url } = await startService({ DATA_DIR: temporaryFolder() })
      const { page, problems } = await openConsole(url, {}, (opened) => opened.addInitScript(simulated))
      const session = await page.context().newCDPSession(page)
      await page.evaluate(`location.hash = '#/${name.toLowerCase()}'`)
      await signIn(page)
      await runHours(page, 6)
      await expectSays(page, new RegExp(says))
      const before = await heldBy(session)
      await runHours(page, 18)
      await expectSays(page, new RegExp(says))
      const after = await heldBy(session)
      expect(after.nodes).toBeLessThan(before.nodes * 1.2 + 200)
      expect(after.bytes).toBeLessThan(before.bytes * 1.2 + 500_000)
      expect(await page.locator('tbody tr').count()).toBeLessThanOrEqual(200)
      expect(problems).toEqual([])
    },
    900_000,
  ) // a day is some thousand messages, which a busy machine draws slowly
})
