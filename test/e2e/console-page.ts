import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { type OpenedPage, useBrowser } from './browser.ts'
import { apiKey } from './client.ts'

export { hasBrowser, phone } from './browser.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const pageNames = ['Overview', 'Pipeline', 'Events', 'Parked', 'Documents'] as const

/** Opens consoles in a browser that the tests of a suite share; each ends with its test. */
export function useConsole() {
  const open = useBrowser()
  return async (
    url: string,
    options: BrowserContextOptions = {},
    prepare: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<OpenedPage> => {
    const opened = await open(options)
    await prepare(opened.page)
    await opened.page.goto(`${url}/console`)
    return opened
  }
}

export async function signIn(page: Page, key = apiKey): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

/** The rules of axe that the page violates, with the elements. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return await page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')))`)
}

/** Fills a form by its labels, and sends it. Resolves to what is answered. */
export async function send(page: Page, form: string, values: Readonly<Record<string, string>>): Promise<string> {
  const element = page.getByRole('form', { name: form })
  for (const [label, value] of Object.entries(values)) {
    const field = element.getByLabel(new RegExp(`^${label}`))
    if (await isSelect(field)) await field.selectOption(value)
    else await field.fill(value)
  }
  await element.getByRole('button').click()
  const answer = element.getByRole('status').or(element.getByRole('alert'))
  return await answer.first().innerText()
}

async function isSelect(field: Locator): Promise<boolean> {
  return (await field.evaluate((element) => element.tagName)) === 'SELECT'
}

export async function expectSays(page: Page, text: string | RegExp): Promise<void> {
  await expect.poll(() => page.locator('main').innerText(), { timeout: 30_000, interval: 50 }).toMatch(text)
}
