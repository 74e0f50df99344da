import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'
import { certificates } from '../brokers/certificates.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { startCommand } from './service.ts'
import { send } from './tls-client.ts'

const nginx = '/usr/sbin/nginx'
export const hasNginx = process.env.CI !== undefined || existsSync(nginx)
if (!hasNginx) process.stderr.write(`behind a proxy: skipped, there is no ${nginx}\n`)

export const prefix = '/shop'

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
    location ${prefix}/ {
      proxy_pass ${service}/;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`
}

/** Has nginx serve, on a port, what `service` has. Resolves to the file of the authority whose certificate it has. */
export async function startNginx(port: number, service: string): Promise<string> {
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  const tls = certificates(folder)
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, port, service, tls))
  const proxy = startCommand([nginx, '-p', folder, '-c', file], {})
  const answers = async () => (await send(new URL(`https://127.0.0.1:${port}${prefix}/livez`), tls.ca)).status === 200
  await vi.waitFor(async () => expect(await answers(), proxy.errors()).toBe(true), { timeout: 20_000 })
  return tls.ca
}
