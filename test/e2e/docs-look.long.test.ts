import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  authorize,
  blockOf,
  createPet,
  execute,
  followEvents,
  getPet,
  hasBrowser,
  listPets,
  phone,
  useDocs,
} from './docs-page.ts'
import { brokenWords, paleTexts } from './readability.ts'

describe.skipIf(!hasBrowser)('the look of the docs page', () => {
  const openDocs = useDocs()

  /** Executes operations of all kinds, and opens all schemas. */
  async function showAll(page: Page): Promise<void> {
    await authorize(page)
    for (const operation of [createPet, listPets, getPet, followEvents]) await execute(page, operation)
    await page.locator('[id="operations-store-placeOrder"] .opblock-summary-control').click()
    for (const button of await page.locator('.models .json-schema-2020-12-expand-deep-button').all())
      await button.click()
    await page.mouse.move(0, 0)
  }
  const widthOf = (page: Page) => page.evaluate('document.documentElement.scrollWidth')

  it('fits on a phone, with all words whole', async () => {
    const { page, url, problems } = await openDocs({ viewport: phone })
    await showAll(page)
    expect(await widthOf(page)).toBe(phone.width)
    expect(await brokenWords(page)).toEqual([])
    await page.goto(`${url}/docs/errors`)
    expect(await widthOf(page)).toBe(phone.width)
    expect(await brokenWords(page)).toEqual([])
    expect(problems).toEqual([])
  })

  it.each([phone, { width: 1100, height: 860 }])('hides nothing behind buttons at $width px', async (viewport) => {
    const { page } = await openDocs({ viewport })
    await authorize(page)
    await execute(page, createPet)
    const answer = blockOf(page, createPet).locator('.responses-inner').first()
    for (const [code, button] of [
      ['.highlight-code pre', '.highlight-code .download-contents'],
      ['.highlight-code pre', '.highlight-code .copy-to-clipboard'],
      ['.curl-command pre', '.curl-command .copy-to-clipboard'],
    ] as const) {
      const [body, on] = await Promise.all([code, button].map((one) => answer.locator(one).first().boundingBox()))
      expect(bottomOf(on), button).toBeLessThanOrEqual(body?.y ?? 0)
      expect(on?.x).toBeGreaterThan(viewport.width / 2)
    }
  })

  it('is readable in light and dark, a deprecated operation too', async () => {
    const { page, url } = await openDocs()
    await showAll(page)
    expect(await page.locator('.opblock-deprecated .opblock-summary-method').isVisible()).toBe(true)
    expect(await paleTexts(page)).toEqual([])
    const background = 'getComputedStyle(document.body).backgroundColor'
    expect(await page.evaluate(background)).toBe('rgb(255, 255, 255)')
    await page.emulateMedia({ colorScheme: 'dark' })
    await expect.poll(() => page.evaluate(background)).toBe('rgb(28, 32, 34)')
    await expect.poll(() => paleTexts(page), { timeout: 10_000 }).toEqual([])
    await page.goto(`${url}/docs/errors`)
    expect(await paleTexts(page)).toEqual([])
  })

  it('sets off the format of a parameter from its type, and what is under the title by no empty band', async () => {
    const { page } = await openDocs()
    const block = blockOf(page, followEvents)
    await block.locator('.opblock-summary-control').click()
    const type = block.locator('.parameter__type', { has: page.locator('.prop-format') }).first()
    const format = await type.locator('.prop-format').evaluate((element) => {
      const range = element.ownerDocument.createRange()
      range.selectNode(element.previousSibling as never)
      return element.getBoundingClientRect().left - range.getBoundingClientRect().right
    })
    expect(format).toBeGreaterThan(3)
    const box = (selector: string) => page.locator(selector).first().boundingBox()
    const row = page.locator('tr', { has: page.locator('.prop-format') })
    const [left, right] = await Promise.all([
      type.locator('.prop-format').boundingBox(),
      row.locator('.parameters-col_description').first().boundingBox(),
    ])
    expect((right?.x ?? 0) - ((left?.x ?? 0) + (left?.width ?? 0))).toBeGreaterThan(8)
    const [title, link, last, servers, first] = await Promise.all(
      ['.info .title', '.info .url', '.info > :last-child', '.servers-title, .servers', '.opblock-tag'].map(box),
    )
    for (const [above, below] of [
      [title, link],
      [last, servers],
      [servers, first],
    ]) {
      expect((below?.y ?? 0) - bottomOf(above)).toBeLessThan(60)
    }
  })
})

function bottomOf(box: { readonly y: number; readonly height: number } | null | undefined): number {
  return (box?.y ?? 0) + (box?.height ?? 0)
}
