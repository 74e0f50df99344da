import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  authorize,
  blockOf,
  createPet,
  execute,
  followEvents,
  getPet,
  hasBrowser,
  listPets,
  operationsOf,
  useDocs,
} from './docs-page.ts'

describe.skipIf(!hasBrowser)('the docs page', () => {
  const openDocs = useDocs()

  it('executes every operation with the values that it proposes', async () => {
    const { page, url, problems } = await openDocs()
    await authorize(page)
    const operations = await operationsOf(url)
    expect(operations.length).toBeGreaterThan(6)
    for (const operation of operations) {
      const { operationId } = operation
      expect([operationId, await execute(page, operation)]).toEqual([operationId, expect.stringMatching(/^20[01]$/)])
    }
    expect(problems).toEqual([])
  })

  it('keeps the key over a reload, and sends and shows an int64 digit for digit', async () => {
    const { page, problems } = await openDocs()
    await authorize(page)
    await page.reload()
    const body = '{"name":"Max","categoryId":9223372036854775807}'
    expect(await execute(page, createPet, (block) => block.locator('textarea.body-param__text').fill(body))).toBe('201')
    expect(await execute(page, listPets)).toBe('200')
    for (const operation of [createPet, listPets]) {
      const shown = blockOf(page, operation).locator('.live-responses-table')
      expect(await shown.innerText()).toContain('"categoryId": 9223372036854775807')
    }
    expect(problems).toEqual([])
  })

  it('shows the command that follows events, and neither sends it nor waits', async () => {
    const { page, url, problems } = await openDocs()
    await authorize(page)
    const sent: string[] = []
    page.on('request', (request) => request.url().includes('/v1/') && sent.push(request.url()))
    await execute(page, followEvents, async (block) => {
      await block.locator('.parameters select').last().selectOption('start')
    })
    const block = blockOf(page, followEvents)
    const command = await block.locator('.curl-command').innerText()
    expect(command).toContain(`curl --no-buffer -X 'GET' \\\n  '${url}/v1/events?from=start'`)
    expect(command).toContain("-H 'Authorization: Bearer ")
    expect(await block.locator('.live-responses-table').innerText()).toContain('Nothing was sent')
    expect(await block.locator('.loading').count()).toBe(0)
    expect([sent, problems]).toEqual([[], []])
  })

  it('shows each error in one line that leads to what it means', async () => {
    const { page, url, problems } = await openDocs()
    const block = blockOf(page, getPet)
    await block.locator('.opblock-summary-control').click()
    const line = block.locator('.error-line', { hasText: 'pet_not_found' })
    expect(await line.innerText()).toMatch(/404\s+No such pet: pet_not_found/)
    expect(await block.locator('.error-line pre').count()).toBe(0)
    expect(await block.locator('.opblock-title_normal, .opblock-deprecated').first().innerText()).toMatch(/deprecated/i)
    await line.locator('a').click()
    await page.waitForURL(`${url}/docs/errors#pet_not_found`)
    expect(await page.locator('#pet_not_found').innerText()).toBe('pet_not_found')
    await page.locator('a', { hasText: 'Operations' }).click()
    await page.waitForURL(`${url}/docs`)
    expect(problems).toEqual([])
  })

  it('works as well behind a proxy that puts a prefix in front, without PUBLIC_URL', async () => {
    const { page, url, problems } = await openDocs({}, (service) => underPrefix(service, '/shop'))
    await authorize(page)
    expect(await execute(page, createPet)).toBe('201')
    const block = blockOf(page, createPet)
    expect(await block.locator('.request-url').innerText()).toContain(`${url}/v1/pets`)
    const line = block.locator('.error-line', { hasText: 'unauthorized' })
    await line.locator('a').click()
    await page.waitForURL(`${url}/docs/errors#unauthorized`)
    expect(await page.evaluate('getComputedStyle(document.body).fontFamily')).toBe('sans-serif')
    await page.locator('a', { hasText: 'Operations' }).click()
    await page.waitForURL(`${url}/docs`)
    expect(problems).toEqual([])
  })
})

/** Where a reverse proxy serves what `target` has, and nothing else. */
async function underPrefix(target: string, prefix: string): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming
    if (!url.startsWith(`${prefix}/`)) return outgoing.writeHead(404).end()
    const passed = request(`${target}${url.slice(prefix.length)}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy()) // the service ends while the page still asks
    incoming.pipe(passed)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close().closeAllConnections())
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}`
}
