import { describe, expect, it, vi } from 'vitest'
import { freePort } from '../brokers/ready.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { shared } from '../lib/when-done.ts'
import { apiKey } from './client.ts'
import { authorize, createPet, execute, hasBrowser, listPets, useDocs } from './docs-page.ts'
import { hasNginx, prefix, startNginx } from './nginx.ts'
import { startService } from './service.ts'
import { type Answer, firstBytes, send } from './tls-client.ts'

const started = shared(async () => {
  const port = await freePort()
  const url = `https://127.0.0.1:${port}${prefix}`
  const environment = { DATA_DIR: temporaryFolder(), PUBLIC_URL: url, TRUST_PROXY: '127.0.0.1' }
  const service = await startService({ ...environment, CORS_ORIGINS: 'https://page.example' })
  const ca = await startNginx(port, service.url)
  const request = (path: string, options: Parameters<typeof send>[2] = {}) =>
    send(new URL(path, `${url}/`), ca, {
      ...options,
      headers: { authorization: `Bearer ${apiKey}`, ...options.headers },
    })
  return { url, ca, request }
})

const json = (method: string, body: unknown, headers: Record<string, string> = {}) => ({
  ...{ method, body: JSON.stringify(body) },
  headers: { 'content-type': 'application/json', ...headers },
})
const nextOf = ({ headers }: Answer) => /^<(.*)>; rel="next"$/.exec(headers.link ?? '')?.[1] ?? ''

describe.skipIf(!hasNginx)('behind nginx, under a prefix', () => {
  it('each operation works, along the addresses that are handed out', async () => {
    const { request } = started()
    const added = await request(
      '/shop/v1/pets',
      json('POST', { name: 'Rex', categoryId: 7 }, { expect: '100-continue' }),
    )
    expect([added.status, added.headers.location]).toEqual([201, expect.stringMatching(/^\/shop\/v1\/pets\/\d+$/)])
    const pet = added.headers.location ?? ''
    expect((await request(pet)).text).toBe(added.text)
    await request('/shop/v1/pets', json('POST', { name: 'Mia', categoryId: 7 }))
    const placed = await request('/shop/v1/store/orders', json('POST', { petId: JSON.parse(added.text).id }))
    const order = placed.headers.location ?? ''
    expect((await request(order)).text).toBe(placed.text)
    const approved = await request(order, json('PATCH', { status: 'approved' }))
    expect(JSON.parse(approved.text)).toMatchObject({ status: 'approved' })
    for (const first of ['/shop/v1/pets?limit=1', `${pet}/events?limit=1`]) {
      const page = await request(nextOf(await request(first)))
      expect([page.status, JSON.parse(page.text)]).toEqual([200, [expect.any(Object)]])
    }
    expect((await request('/shop/v1/store/orders')).status).toBe(200)
  })

  it('a compressed answer has a weak tag, which is told what it is, and the strong one works', async () => {
    const { request } = started()
    const added = await request('/shop/v1/pets', json('POST', { name: 'Rex', categoryId: 7 }))
    const placed = await request('/shop/v1/store/orders', json('POST', { petId: JSON.parse(added.text).id }))
    const order = placed.headers.location ?? ''
    const read = await request(order, { headers: { 'accept-encoding': 'gzip' } })
    expect(read.headers).toMatchObject({
      'content-encoding': 'gzip',
      'cache-control': 'private, no-cache, no-transform',
    })
    const weak = read.headers.etag ?? ''
    expect(weak).toBe(`W/${placed.headers.etag}`)
    const approve = (tag: string) => request(order, json('PATCH', { status: 'approved' }, { 'if-match': tag }))
    const refused = await approve(weak)
    expect([refused.status, JSON.parse(refused.text).message]).toEqual([412, expect.stringContaining('without W/')])
    expect((await request(order, { headers: { 'if-none-match': weak } })).status).toBe(304)
    expect((await approve(weak.replace('W/', ''))).status).toBe(200)
  })

  it('events come as they happen', async () => {
    const { url, ca, request } = started()
    for (const headers of [{}, { 'accept-encoding': 'gzip' }]) {
      const heard = firstBytes(new URL(`${url}/v1/events`), ca, { authorization: `Bearer ${apiKey}`, ...headers })
      await heard.answered
      const added = await request('/shop/v1/pets', json('POST', { name: 'Rex', categoryId: 7 }))
      await vi.waitFor(() => expect(heard.text()).toContain(`"data":${added.text}`), { timeout: 10_000 })
      heard.end()
    }
  })

  it('the pages are found, and an error leads to what it means', async () => {
    const { url, request } = started()
    const root = await request('/shop/')
    expect([root.status, new URL(root.headers.location ?? '', `${url}/`).href]).toEqual([302, `${url}/docs`])
    expect((await request('/shop/docs')).headers['content-type']).toBe('text/html; charset=utf-8')
    const compressed = { 'accept-encoding': 'gzip' }
    const { headers } = await request('/shop/openapi.json', { headers: compressed })
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', 'cache-control': 'no-cache' })
    const again = { ...compressed, 'if-none-match': headers.etag ?? '' }
    expect((await request('/shop/openapi.json', { headers: again })).status).toBe(304)
    const { servers } = JSON.parse((await request('/shop/openapi.json')).text)
    expect(servers).toEqual([{ url: `${url}/v1` }])
    for (const [path, code] of [
      ['/shop/v1/pets/0', 'pet_not_found'],
      ['/shop/v1/pets?limit=0', 'invalid_request'],
      ['/shop/nothing', 'route_not_found'],
    ] as const) {
      const { headers } = await request(path, { headers: { origin: 'https://page.example' } })
      expect(headers['access-control-allow-origin']).toBe('https://page.example')
      const [, page = '', anchor] = /<([^>]*)#(\w+)>; rel="help"$/.exec(headers.link ?? '') ?? []
      expect([anchor, (await request(page)).text]).toEqual([code, expect.stringContaining(`id="${code}"`)])
    }
  })
})

describe.skipIf(!hasNginx || !hasBrowser)('the docs page behind nginx, under a prefix', () => {
  const openDocs = useDocs()

  it('is whole, and sends to where it is', async () => {
    const { page, url, problems } = await openDocs({ ignoreHTTPSErrors: true }, async (service) => {
      const port = await freePort()
      await startNginx(port, service)
      return `https://127.0.0.1:${port}${prefix}`
    })
    await authorize(page)
    for (const operation of [createPet, listPets]) expect(await execute(page, operation)).toMatch(/^20[01]$/)
    await page.goto(`${url}/docs/errors#pet_not_found`)
    expect(await page.locator('#pet_not_found').innerText()).toBe('pet_not_found')
    expect(problems).toEqual([])
  })
})
