import type { Page } from 'playwright-core'
import { Type } from 'typebox'
import { describe, expect, it, onTestFinished } from 'vitest'
import { library } from '../../examples/loans/library.ts'
import { books } from '../../examples/loans/resources.ts'
import { startForTest } from '../../src/engine/testing/index.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { Client } from './client.ts'
import { expectSays, goTo, hasBrowser, phone, signIn, useConsole, violations } from './console-page.ts'
import { startService } from './service.ts'

const patience = { timeout: 30_000, interval: 50 }

/** What the table shows: names, or titles. */
function expectShown(page: Page, column: number, expected: readonly string[]): Promise<void> {
  const cells = page.locator(`tbody td:nth-child(${column})`)
  return expect.poll(() => cells.allInnerTexts(), patience).toEqual(expected)
}

/** Its label has more where it does not go with another. */
const filter = (page: Page, name: string) =>
  page.getByRole('form', { name: 'Filters' }).getByLabel(new RegExp(`^${name}`))
const addressOf = (page: Page) => decodeURIComponent(new URL(page.url()).hash)

describe.skipIf(!hasBrowser)('lists in the console', () => {
  const openConsole = useConsole()

  /** Category 7 has pets 0 to 24, of which every fifth is sold; category 8 has one. */
  async function startWithPets() {
    const { url } = await startService({ DATA_DIR: temporaryFolder() })
    const client = new Client({ url })
    const ids: number[] = []
    for (let i = 0; i < 25; i++) {
      const { body } = await client.post({
        name: `pet ${i}`,
        categoryId: 7,
        status: i % 5 === 0 ? 'sold' : 'available',
      })
      ids.push((body as { id: number }).id)
    }
    await client.post({ name: 'elsewhere', categoryId: 8 })
    const names = ids.map((id, i) => ({ id, name: `pet ${i}` })).sort((one, other) => one.id - other.id)
    return { url, names: names.map(({ name }) => name) }
  }

  it('are filtered by what goes together; what is chosen stands in the address, is counted, and goes back', async () => {
    const { url, names } = await startWithPets()
    const { page, problems } = await openConsole(url)
    await signIn(page)
    await goTo(page, 'Documents')
    const choices = () => filter(page, 'status').locator('option').allInnerTexts()
    await expect.poll(choices, patience).toEqual(['all', 'available (21)', 'pending (0)', 'sold (5)'])

    await filter(page, 'categoryId').fill('7')
    await page.keyboard.press('Enter')
    await expectShown(page, 2, names.slice(0, 20))
    expect(addressOf(page)).toBe('#/documents?categoryId=7')
    await expect.poll(choices, patience).toEqual(['all', 'available (20)', 'pending (0)', 'sold (5)'])
    await page.getByRole('button', { name: 'Next page' }).click()
    await expectShown(page, 2, names.slice(20))
    expect(addressOf(page)).toMatch(/^#\/documents\?categoryId=7&cursor=/)

    await filter(page, 'status').selectOption('sold')
    const sold = names.filter((name) => Number(name.slice(4)) % 5 === 0)
    await expectShown(page, 2, sold)
    expect(addressOf(page)).toBe('#/documents?status=sold&categoryId=7')
    await page.goBack()
    await expectShown(page, 2, names.slice(20))
    await page.goBack()
    await expectShown(page, 2, names.slice(0, 20))
    expect(await filter(page, 'status').inputValue()).toBe('')
    await page.goForward()
    await page.goForward()
    await expectShown(page, 2, sold)
    expect(await violations(page)).toEqual([])

    const other = await openConsole(url)
    await other.page.goto(page.url())
    await signIn(other.page)
    await expectShown(other.page, 2, sold)
    expect(await filter(other.page, 'status').inputValue()).toBe('sold')
    expect(await filter(other.page, 'categoryId').inputValue()).toBe('7')
    expect([...problems, ...other.problems]).toEqual([])
  })

  it('say what is wrong with a value, in place of other documents', async () => {
    const { url } = await startWithPets()
    const { page } = await openConsole(url)
    await signIn(page)
    await goTo(page, 'Documents')
    const field = filter(page, 'categoryId')
    for (const wrong of ['1.0', '+7', '007', ' 7', 'x'.repeat(129), '9223372036854775808']) {
      await field.fill(wrong)
      await page.getByRole('button', { name: 'Filter' }).click()
      await expectSays(page, /query: categoryId must be an integer from -9223372036854775808 to 9223372036854775807/)
      expect(await page.locator('tbody').count()).toBe(0)
      expect(await field.inputValue()).toBe(wrong)
    }
    await field.fill('')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('tbody tr').count(), patience).toBe(20)
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.goto(`${url}/console#/documents/pets?colour=red`)
    await expectSays(page, /"colour" is not allowed/)
  })

  it('keep what is being entered while the page asks again', async () => {
    const { url } = await startWithPets()
    const { page } = await openConsole(url)
    await signIn(page)
    await goTo(page, 'Documents')
    await filter(page, 'categoryId').pressSequentially('8')
    for (let i = 0; i < 3; i++) await page.waitForResponse(/console\/api\/status/)
    expect(await filter(page, 'categoryId').inputValue()).toBe('8')
    await page.keyboard.press('Enter')
    await expectShown(page, 2, ['elsewhere'])
    expect(await page.evaluate('document.activeElement.name')).toBe('categoryId')
  })

  it('offer no filter that does not go with another, and say what goes', async () => {
    const { url, page } = await openLibrary()
    await page.goto(`${url}/console#/documents/loans`)
    await filter(page, 'bookId').fill('7')
    await filter(page, 'status').selectOption('open')
    const memberId = filter(page, 'memberId, not with bookId')
    expect(await memberId.isDisabled()).toBe(true)
    expect(addressOf(page)).toBe('#/documents/loans?status=open&bookId=7')
    await filter(page, 'bookId').fill('')
    await page.keyboard.press('Enter')
    await expect.poll(() => filter(page, 'memberId').isEnabled(), patience).toBe(true)

    await page.goto(`${url}/console#/documents/loans?bookId=7&memberId=3`)
    await expectSays(
      page,
      /bookId and memberId cannot be used together; bookId goes with status, memberId goes with status/,
    )
    expect(await violations(page)).toEqual([])
    await filter(page, 'memberId').fill('')
    await page.keyboard.press('Enter')
    await expectSays(page, 'None.')
  })

  it('are filtered by texts of others, on a phone too, and say which are too long', async () => {
    const { page, url, add } = await openLibrary({ viewport: phone })
    const titles = ['a/b?c=d&e#f', '<i>\u202e"', '%41', '京'.repeat(128)]
    for (const title of [...titles, 'Emma']) await add(title)
    await page.goto(`${url}/console#/documents/books`)
    for (const title of titles) {
      await filter(page, 'title').fill(title)
      await page.keyboard.press('Enter')
      const titleInAddress = () => new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('title')
      await expect.poll(titleInAddress, patience).toBe(title)
      await expect.poll(() => page.locator('tbody tr').count(), patience).toBe(1)
    }
    for (const [title, said] of [
      ['x'.repeat(129), /title must/],
      ['x'.repeat(20_000), 'headers_too_large'],
    ] as const) {
      await filter(page, 'title').fill(title)
      await page.getByRole('button', { name: 'Filter' }).click()
      await expectSays(page, said)
      const width = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      expect(await page.evaluate(width)).toBe(0)
      expect(await violations(page)).toEqual([])
    }
  })

  /** A library whose books are found by their title, with or without their status. */
  async function openLibrary(options: Parameters<typeof openConsole>[1] = {}) {
    const { service } = library
    const filters = { ...books.filters, title: Type.String() }
    const streams = service.streams.map((stream) => ({
      ...stream,
      projections: stream.projections.map((projection) => ({
        ...projection,
        documents: (state: never) =>
          projection.documents(state).map((document) => {
            if (document.collection !== 'books' || document.json === null) return document
            return { ...document, filters: { ...document.filters, title: JSON.parse(document.json).title } }
          }),
      })),
    }))
    const started = await startForTest({
      service: {
        ...service,
        streams,
        resources: { ...service.resources, books: { ...books, filters, together: [['title', 'status']] } },
      },
    })
    onTestFinished(() => started.close())
    const client = new Client({ url: started.url }, started.key)
    const { page } = await openConsole(started.url, options)
    await signIn(page, started.key)
    const add = async (title: string) => expect((await client.send('POST', '/v1/books', { title })).status).toBe(201)
    return { page, url: started.url, add }
  }
})
