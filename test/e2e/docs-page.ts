import type { BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { type OpenedPage, useBrowser } from './browser.ts'
import { apiKey } from './client.ts'

export { hasBrowser, phone } from './browser.ts'

import { startService } from './service.ts'

export interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

export interface DocsPage extends OpenedPage {
  /** What the page is beside. */
  readonly url: string
}

/** Opens pages in a browser that the tests of a suite share; each ends with its test. */
export function useDocs() {
  const open = useBrowser()

  /** The page of a new service, as it is seen through `front`. */
  async function openDocs(
    options: BrowserContextOptions = {},
    front: (url: string) => Promise<string> | string = (url) => url,
  ): Promise<DocsPage> {
    const service = await startService({ DATA_DIR: temporaryFolder() })
    const url = await front(service.url)
    const { page, problems } = await open(options)
    await page.goto(`${url}/`) // which leads to the page
    expect(page.url()).toBe(`${url}/docs`)
    await page.locator('.opblock').first().waitFor()
    return { page, url, problems }
  }
  return openDocs
}

export async function authorize(page: Page): Promise<void> {
  await page.locator('.btn.authorize').click()
  await page.locator('.modal-ux input').fill(apiKey)
  await page.locator('.modal-ux .btn.modal-btn.authorize').click()
  await page.locator('.modal-ux .btn-done').click()
}

/** Those that answer JSON, what is made first: a stream of events has no end. */
export async function operationsOf(url: string): Promise<Operation[]> {
  const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi
  const order = ['post', 'get', 'patch']
  return Object.values(paths)
    .flatMap((methods) => Object.entries(methods))
    .filter(([, { responses }]) => ['200', '201'].some((status) => responses[status]?.content?.['application/json']))
    .sort(([a], [b]) => order.indexOf(a) - order.indexOf(b))
    .map(([, operation]) => operation)
}

type Named = Pick<Operation, 'operationId' | 'tags'>

export function blockOf(page: Page, { operationId, tags }: Named) {
  return page.locator(`[id="operations-${tags[0]}-${operationId}"]`)
}

/** The status that the page shows for the answer to what it sends. */
export async function execute(
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

export const createPet = { operationId: 'createPet', tags: ['animals'] }
export const listPets = { operationId: 'listPets', tags: ['animals'] }
export const getPet = { operationId: 'getPet', tags: ['animals'] }
export const followEvents = { operationId: 'followEvents', tags: ['events'] }
