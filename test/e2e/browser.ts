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

/** Does what a person does who sees half a page because of that: loads it again. */
function loadAgainAfterNetworkChange(page: Page): void {
  const goto = page.goto.bind(page)
  page.goto = async (...where) => {
    for (;;) {
      try {
        return await goto(...where)
      } catch (error) {
        if (!String(error).includes(networkChanged)) throw error
      }
    }
  }
  page.on('requestfailed', (request) => {
    const isHalf = loadedOnce.includes(request.resourceType()) && request.failure()?.errorText === networkChanged
    if (isHalf) page.reload().catch(() => {}) // broken off by the next one, or by the end of the test
  })
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
    loadAgainAfterNetworkChange(page)
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
