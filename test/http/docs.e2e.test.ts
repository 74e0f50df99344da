import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { apiKey } from '../e2e/client.ts'
import { startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium'
const hasBrowser = process.env.CI !== undefined || existsSync(executablePath)
if (!hasBrowser) process.stderr.write(`docs page: skipped, there is no Chromium at ${executablePath}\n`)

const phone = { width: 390, height: 844 }

describe.skipIf(!hasBrowser)('the docs page', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  })
  afterAll(() => browser?.close())

  it('executes every operation with the values that it proposes, and fits on a phone', async () => {
    const { page, url, problems } = await openDocs(browser, { viewport: phone })
    await authorize(page)
    const operations = await operationsOf(url)
    expect(operations.length).toBeGreaterThan(6)
    for (const operation of operations) {
      const { operationId } = operation
      expect([operationId, await execute(page, operation)]).toEqual([operationId, expect.stringMatching(/^20[01]$/)])
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width)
    await page.goto(`${url}/docs/errors`)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width)
    expect(problems).toEqual([])
  })

  it('keeps the key over a reload, and sends and shows an int64 digit for digit', async () => {
    const { page, problems } = await openDocs(browser)
    await authorize(page)
    await page.reload()
    const added = { operationId: 'createPet', tags: ['animals'] }
    const body = '{"name":"Max","categoryId":9223372036854775807}'
    expect(await execute(page, added, (block) => block.locator('textarea.body-param__text').fill(body))).toBe('201')
    const listed = { operationId: 'listPets', tags: ['animals'] }
    expect(await execute(page, listed)).toBe('200')
    for (const operation of [added, listed]) {
      const shown = blockOf(page, operation).locator('.live-responses-table')
      expect(await shown.innerText()).toContain('"categoryId": 9223372036854775807')
    }
    expect(problems).toEqual([])
  })

  it('is readable in light and dark, and shows each error in one line that leads to what it means', async () => {
    const { page, url, problems } = await openDocs(browser)
    const styleOf = (selector: string, name: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).${name}`)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.reload() // it looks at the scheme once
      await page.locator('.opblock').first().waitFor()
      const style = { ground: await styleOf('body', 'backgroundColor'), text: await styleOf('.info .title', 'color') }
      const [ground, text] = [style.ground, style.text].map(brightness) as [number, number]
      const contrast = colorScheme === 'dark' ? text - ground : ground - text
      expect(contrast, `${colorScheme}: ${JSON.stringify(style)}`).toBeGreaterThan(120)
    }
    const block = blockOf(page, { operationId: 'getPet', tags: ['animals'] })
    await block.locator('.opblock-summary-control').click()
    const line = block.locator('.error-line', { hasText: 'pet_not_found' })
    expect(await line.innerText()).toMatch(/404\s+No such pet: pet_not_found/)
    expect(await block.locator('.error-line pre').count()).toBe(0)
    expect(await block.locator('.opblock-title_normal, .opblock-deprecated').first().innerText()).toMatch(/deprecated/i)
    await line.locator('a').click()
    await page.waitForURL(`${url}/docs/errors#pet_not_found`)
    expect(await page.locator('#pet_not_found').innerText()).toBe('pet_not_found')
    expect(problems).toEqual([])
  })
})

/** The page of a new service; `problems` are what the browser's console has of errors, violations of the policy included. */
async function openDocs(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}) {
  const { url } = await startService({ DATA_DIR: temporaryFolder() })
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  const problems: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(String(error)))
  await page.goto(url) // which leads to /docs
  expect(page.url()).toBe(`${url}/docs`)
  await page.locator('.opblock').first().waitFor()
  return { page, url, problems }
}

async function authorize(page: Page): Promise<void> {
  await page.locator('.btn.authorize').click()
  await page.locator('.modal-ux input').fill(apiKey)
  await page.locator('.modal-ux .btn.modal-btn.authorize').click()
  await page.locator('.modal-ux .btn-done').click()
}

/** Those that answer JSON, what is made first: a stream of events has no end. */
async function operationsOf(url: string): Promise<Operation[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi
  const order = ['post', 'get', 'patch']
  return Object.values(paths)
    .flatMap((methods) => Object.entries(methods))
    .filter(([, { responses }]) => ['200', '201'].some((status) => responses[status]?.content?.['application/json']))
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([, operation]) => operation)
}

type Named = Pick<Operation, 'operationId' | 'tags'>

function blockOf(page: Page, { operationId, tags }: Named) {
  return page.locator(`[id="operations-${tags[0]}-${operationId}"]`)
}

/** The status that the page shows for the answer to what it sends. */
async function execute(
  page: Page,
  operation: Named,
  change: (block: ReturnType<typeof blockOf>) => Promise<void> = async () => {},
): Promise<string> {
  const block = blockOf(page, operation)
  await block.locator('.opblock-summary-control').click()
  await change(block)
  await block.locator('.btn.execute').click()
  const status = block.locator('.live-responses-table tbody .response-col_status').first()
  return (await status.innerText()).trim().slice(0, 3)
}

/** 0 to 255, of rgb(r, g, b). */
function brightness(colour: string): number {
  const [red = 0, green = 0, blue = 0] = colour.match(/\d+/g)?.map(Number) ?? []
  return (red + green + blue) / 3
}
