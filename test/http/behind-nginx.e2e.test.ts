import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { certificates } from '../brokers/certificates.ts'
import { freePort } from '../brokers/ready.ts'
import { apiKey } from '../e2e/client.ts'
import { startCommand, startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { shared } from '../lib/when-done.ts'
import { type Answer, firstBytes, send } from './tls-client.ts'

const nginx = '/usr/sbin/nginx'
const hasNginx = process.env.CI !== undefined || existsSync(nginx)
if (!hasNginx) process.stderr.write(`behind a proxy: skipped, there is no ${nginx}\n`)

/** As a proxy is often set up: TLS, a prefix, and both buffering and compression for whatever comes. */
function configuration(folder: string, port: number, service: string, { cert, key }: { cert: string; key: string }) {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
master_process off;
pid ${folder}/pid;
error_log stderr warn;
worker_processes 1;
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  gzip on;
  gzip_types *;
  gzip_min_length 1;
  gzip_proxied any;
  proxy_buffering on;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate ${cert};
    ssl_certificate_key ${key};
    location /shop/ {
      proxy_pass ${service}/;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`
}

const started = shared(async () => {
  const [folder, port] = [temporaryFolder(), await freePort()]
  const url = `https://127.0.0.1:${port}/shop`
  const environment = { DATA_DIR: temporaryFolder(), PUBLIC_URL: url, TRUST_PROXY: '127.0.0.1' }
  const service = await startService({ ...environment, CORS_ORIGINS: 'https://page.example' })
  mkdirSync(folder, { recursive: true })
  const tls = certificates(folder)
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, port, service.url, tls))
  const proxy = startCommand([nginx, '-p', folder, '-c', file], {})
  const request = (path: string, options: Parameters<typeof send>[2] = {}) =>
    send(new URL(path, `${url}/`), tls.ca, {
      ...options,
      headers: { authorization: `Bearer ${apiKey}`, ...options.headers },
    })
  await vi.waitFor(async () => expect((await request('/shop/livez')).status, proxy.errors()).toBe(200), {
    timeout: 20_000,
  })
  return { url, ca: tls.ca, request }
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
    expect([root.status, root.headers.location]).toEqual([302, '/shop/docs'])
    expect((await request('/shop/docs')).headers['content-type']).toBe('text/html; charset=utf-8')
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
