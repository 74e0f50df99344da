import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
export const hasBrowser = process.env.CI !== undefined || existsSync(executablePath)
if (!hasBrowser) process.stderr.write(`pages: skipped, there is no Chromium at ${executablePath}\n`)

export const phone = { width: 390, height: 844 }

export interface OpenedPage {
  readonly page: Page
  /** What the browser has of errors and dialogs, violations of the policy included. */
  readonly problems: readonly string[]
}

/** Docker changes the network of this machine with each container, and Chromium then breaks off what it is loading. */
const networkChanged = 'net::ERR_NETWORK_CHANGED'
const loadedOnce = ['script', 'stylesheet']

/** Does what a person does who sees half a page because of that: opens it again. */
function openAgainAfterNetworkChange(page: Page): void {
  let isHalf = false
  page.on('requestfailed', (request) => {
    isHalf ||= loadedOnce.includes(request.resourceType()) && request.failure()?.errorText === networkChanged
  })
  async function whole<T>(open: () => Promise<T>): Promise<T> {
    for (;;) {
      isHalf = false
      try {
        const response = await open()
        if (!isHalf) return response
      } catch (error) {
        if (!String(error).includes(networkChanged)) throw error
      }
    }
  }
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)]
  page.goto = (...where) => whole(() => goto(...where))
  page.reload = (...how) => whole(() => reload(...how))
}

/** Opens empty pages in a browser that the tests of a suite share; each ends with its test. */
export function useBrowser(): (options?: BrowserContextOptions) => Promise<OpenedPage> {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  })
  afterAll(() => browser?.close())
  return async (options = {}) => {
    const context = await browser.newContext(options)
    onTestFinished(() => context.close())
    const page = await context.newPage()
    page.setDefaultTimeout(30_000)
    openAgainAfterNetworkChange(page)
    const problems: string[] = []
    page.on('console', (message) => {
      const isProblem = message.type() === 'error' || message.type() === 'warning'
      if (isProblem && !message.text().includes(networkChanged)) problems.push(message.text())
    })
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('dialog', (dialog) => problems.push(`dialog: ${dialog.message()}`))
    return { page, problems }
  }
}
