import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { type Program, startCommand, startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

const root = new URL('../../', import.meta.url)
const pathOf = (file: string) => fileURLToPath(new URL(file, root))
const listing = [process.execPath, '--import', pathOf('test/architecture/list-loaded.ts')]

/** The packages, the folders of `src`, and the parts of Node that a program had loaded when it ended. */
async function loadedBy(environment: { LOADED: string }, program: Program) {
  expect([await program.ended, program.errors()]).toEqual([0, expect.any(String)])
  const names = readFileSync(environment.LOADED, 'utf8').split('\n')
  const all = (pattern: RegExp) => [...new Set(names.flatMap((name) => pattern.exec(name)?.[1] ?? []))].sort()
  return {
    packages: all(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/),
    folders: all(new RegExp(`^${root}(src/.*)/`)),
    parts: all(/^NativeModule (.*)/),
  }
}

function newEnvironment() {
  const folder = temporaryFolder()
  return { DATA_DIR: folder, LOADED: join(folder, 'loaded') }
}

it('the embedded service loads nothing for brokers, nothing for the page of documentation, and no compiler or format of others', async () => {
  const environment = newEnvironment()
  const service = await startService(environment, [...listing, pathOf('src/main.ts')])
  await service.end('SIGTERM')
  const { packages, folders, parts } = await loadedBy(environment, service)
  expect(packages).toEqual(expect.arrayContaining(['fastify', 'pino', 'prom-client']))
  const unused = [
    ...['kafkajs', 'lz4-napi', 'snappyjs', '@node-rs/crc32', 'ioredis', 'cluster-key-slot'],
    ...['@fastify/swagger', 'yaml', '@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler'],
    ...['ajv-formats', 'commander', 'cli-progress'],
  ]
  expect(packages.filter((name) => unused.includes(name))).toEqual([])
  expect(folders).toContain('src/engine/log/sqlite')
  expect(folders.filter((name) => /kafka|redis|cli/.test(name))).toEqual([])
  expect(parts).toContain('_http_server')
  expect(parts).not.toContain('internal/deps/undici/undici')
})

it('keys issue loads commander and the check of a file, and nothing of a server or of an adapter', async () => {
  const environment = newEnvironment()
  const command = [...listing, pathOf('src/cli.ts'), 'keys', 'issue', '--name', 'me']
  const { packages, folders } = await loadedBy(environment, startCommand(command, environment))
  expect(packages).toEqual(['ajv', 'commander', 'fast-deep-equal', 'fast-uri', 'json-schema-traverse', 'typebox'])
  expect(folders).toEqual([
    ...['src/engine', 'src/engine/api-keys', 'src/engine/app', 'src/engine/app/storage', 'src/engine/cli'],
    ...['src/engine/definition', 'src/engine/door', 'src/engine/http/wire'],
    ...['src/engine/lib', 'src/engine/lib/errors', 'src/engine/lib/operating', 'src/engine/lib/values'],
    // of the read models, the names that no collection may have
    ...['src/engine/log', 'src/engine/read-models', 'src/store'],
  ])
})
