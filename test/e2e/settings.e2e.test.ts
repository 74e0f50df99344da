import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { runHere } from '../store/run-here.ts'
import { type Environment, expectRefused, startService } from './service.ts'

const file = (name: string, content: string) => {
  const path = join(temporaryFolder(), name)
  writeFileSync(path, content)
  return path
}

it('what cannot be used stops the start with one line, which says what to do', async () => {
  const { port } = new URL((await startService({ DATA_DIR: temporaryFolder() })).url)
  const cases: [Environment, RegExp][] = [
    [{ DATA_DIR: file('data', '') }, /DATA_DIR=\S+ is not a folder: set DATA_DIR to /],
    [{ API_KEYS_FILE: temporaryFolder() }, /petstore: \S+ cannot be read: EISDIR/],
    [{ HOST: '192.0.2.1' }, /HOST=192.0.2.1 is not an address of this machine/],
    [{ API_KEYS: 'short' }, /API_KEYS contains a key shorter than 20 characters/],
    [{ PORT: port }, new RegExp(`PORT=${port} is already in use on 127.0.0.1: stop the other process, or set PORT`)],
  ]
  const refusals = cases.map(([environment, line]) =>
    expectRefused({ DATA_DIR: temporaryFolder(), LOG_LEVEL: 'warn', ...environment }, line, /^petstore: .*\n$/),
  )
  await Promise.all(refusals)
})

// Only root can make a disk that is full.
if (process.platform === 'linux' && process.getuid?.() === 0) {
  it('a full disk stops the start, and a command, with one line', async () => {
    const DATA_DIR = temporaryFolder()
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', DATA_DIR])
    onTestFinished(() => void execFileSync('umount', ['-l', DATA_DIR]))
    const service = await startService({ DATA_DIR })
    expect(await service.end('SIGTERM')).toBe(0)
    try {
      for (;;) writeFileSync(join(DATA_DIR, 'filler'), Buffer.alloc(4096), { flag: 'a' })
    } catch {
      // full
    }
    const line = /^petstore: DATA_DIR=\S+ is on a disk that is full: free some space, or set DATA_DIR to .*\n$/
    await expectRefused({ DATA_DIR }, line)
    expect(await runHere({ DATA_DIR }, 'stats')).toMatchObject({ code: 2, errors: expect.stringMatching(line) })
  })
}

it('an old Node is told which one is needed, before anything is imported', () => {
  const old = file('old.cjs', "Object.defineProperty(process.versions, 'node', { value: '24.15.9' })")
  const version = new URL('../../src/engine/node-version.cjs', import.meta.url).pathname
  const { status, stderr } = spawnSync(process.execPath, ['-r', old, '-r', version, 'there-is-no-such-file.ts'])
  expect([status, String(stderr)]).toEqual([1, expect.stringMatching(/^This is Node 24.15.9, .*24.16.*\n$/)])
  const { scripts, engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  expect(engines.node).toBe('>=24.16')
  for (const name of ['start', 'petstore']) expect(scripts[name]).toContain('-r ./src/engine/node-version.cjs')
})

it('only its own user can read what it writes, even in a folder that others could read', async () => {
  const DATA_DIR = join(temporaryFolder(), 'data')
  mkdirSync(DATA_DIR, { mode: 0o755 })
  await startService({ DATA_DIR, API_KEYS: '' })
  expect(statSync(DATA_DIR).mode & 0o777).toBe(0o700)
  const files = readdirSync(DATA_DIR)
  expect(files).toEqual(expect.arrayContaining(['api-keys.json', 'event-log.db', 'read-models.db', 'server.lock']))
  for (const name of files) expect([name, statSync(join(DATA_DIR, name)).mode & 0o077]).toEqual([name, 0])
})

it('an untrusted certificate is reported as such', async () => {
  const folder = temporaryFolder()
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', cert, ...subject], {
    stdio: 'ignore',
  })
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const told = /petstore: No TLS connection to Kafka at \S+ \(.*self-signed certificate.*\): check KAFKA_TLS/
  const brokers = { KAFKA_BROKERS: address, REDIS_URL: 'redis://127.0.0.1:1' }
  await expectRefused({ ...brokers, KAFKA_TLS: 'true' }, told)
})
