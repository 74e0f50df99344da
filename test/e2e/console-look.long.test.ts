import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { eventRecord } from '../lib/event-record.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { apiKey, Client } from './client.ts'
import { expectSays, goTo, hasBrowser, pageNames, phone, signIn, useConsole, violations } from './console-page.ts'
import { appendToLog } from './embedded-log.ts'
import { paleTexts } from './readability.ts'
import { serviceCommand, startService } from './service.ts'

const loans = [process.execPath, fileURLToPath(new URL('../../examples/loans/main.ts', import.meta.url))]
const hostile = `<img src=x onerror=alert(1)>\u202e"'&\u0007`

describe.skipIf(!hasBrowser)('the look of the console', () => {
  const openConsole = useConsole()

  describe.each([
    ['of the pet store', 'petstore', serviceCommand, '/v1/pets', { name: hostile, categoryId: 1 }],
    ['of the library', 'library', loans, '/v1/books', { title: hostile }],
  ])('%s', (_what, name, command, path, added) => {
    async function startWithOne() {
      const DATA_DIR = temporaryFolder()
      const service = await startService({ DATA_DIR }, command)
      const { status, body } = await new Client(service).send('POST', path, added)
      expect(status).toBe(201)
      return { url: service.url, id: (body as { id: number }).id, DATA_DIR }
    }

    /** An event of a later release, which this one parks. */
    async function park(DATA_DIR: string, id: number): Promise<void> {
      const said = { type: `${name}.Later.v1`, streamversion: 2, data: { hostile } }
      const later = eventRecord({ id: 'later', source: '/elsewhere', subject: String(id), ...said })
      await appendToLog(DATA_DIR, [later])
    }

    it.each([
      ['light', { colorScheme: 'light' }],
      ['dark', { colorScheme: 'dark' }],
      ['on a phone', { viewport: phone }],
    ] as const)('is readable and usable by all: %s', async (_how, options) => {
      const { url, id, DATA_DIR } = await startWithOne()
      const { page, problems } = await openConsole(url, options)
      expect(await violations(page)).toEqual([])
      await signIn(page)
      await expectSays(page, 'All well.')
      await park(DATA_DIR, id)
      await expectSays(page, '1 event is parked.')
      const hashes = [
        ...pageNames.map((name) => name.toLowerCase()),
        `events/${id}`,
        `documents/${path.split('/').at(-1)}/${id}`,
      ]
      for (const hash of hashes) {
        await page.goto(`${url}/console#/${hash}`)
        await expectSays(page, /is parked|Partitions|The log begins here|Later.v1 is unknown|id|1: /)
        await page.waitForLoadState('networkidle')
        expect(await violations(page), hash).toEqual([])
        expect(await paleTexts(page), hash).toEqual([])
        const width = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        expect(await page.evaluate(width), hash).toBe(0)
      }
      await goTo(page, 'Parked')
      await page.getByRole('button', { name: /^Look at/ }).click()
      await expectSays(page, 'Type 0/1 to confirm')
      expect(await violations(page)).toEqual([])
      expect(problems).toEqual([])
    })

    it('shows what others wrote, and runs none of it', async () => {
      const { url, id } = await startWithOne()
      const { page, problems } = await openConsole(url)
      await signIn(page)
      await goTo(page, 'Documents')
      await expectSays(page, `<img src=x onerror=alert(1)>U+202E"'&U+0007`)
      await page.goto(`${url}/console#/events/${id}`)
      await expectSays(page, '<img src=x onerror=alert(1)>')
      expect(await page.locator('img').count()).toBe(0)
      expect(problems).toEqual([])
    })

    it('opens what the runbook says of a problem, in the words of the service', async () => {
      const { url, id, DATA_DIR } = await startWithOne()
      const { page, problems } = await openConsole(url)
      await signIn(page)
      await park(DATA_DIR, id)
      await expectSays(page, '1 event is parked.')
      await page.getByRole('button', { name: 'Runbook: Parked events' }).click()
      await expectSays(page, 'An event is parked if it cannot be applied')
      await expectSays(page, `${name}.EventDiscarded.v1`)
      expect(await violations(page)).toEqual([])
      expect(problems).toEqual([])
    })

    it('is used by keyboard alone', async () => {
      const { url } = await startWithOne()
      const { page } = await openConsole(url)
      await expect.poll(() => page.evaluate('document.activeElement.tagName')).toBe('INPUT')
      await page.keyboard.type(apiKey)
      await page.keyboard.press('Enter')
      await expectSays(page, 'All well.')
      for (let i = 0; i < 2; i++) await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await expectSays(page, 'Partitions')
    })
  })

  it('is there within a second', async () => {
    const service = await startService({ DATA_DIR: temporaryFolder() })
    const { page } = await openConsole(service.url)
    const [{ loadEventEnd = 0 } = {}] = (await page.evaluate(
      `performance.getEntriesByType('navigation').map(({ loadEventEnd }) => ({ loadEventEnd }))`,
    )) as { loadEventEnd?: number }[]
    process.stderr.write(`console: loaded after ${Math.round(loadEventEnd)} ms\n`)
    expect(await page.getByRole('button', { name: 'Sign in' }).isVisible()).toBe(true)
  })
})
