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
    const problems: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
    })
    page.on('pageerror', (error) => problems.push(String(error)))
    page.on('dialog', (dialog) => problems.push(`dialog: ${dialog.message()}`))
    return { page, problems }
  }
}
