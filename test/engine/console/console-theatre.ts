import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { issueKey } from '../../../src/engine/api-keys/api-keys.ts'
import { readConfig } from '../../../src/engine/app/config.ts'
import { type RunningService, startService } from '../../../src/engine/app/service.ts'
import { openSqliteEventLog } from '../../../src/engine/log/sqlite/sqlite-event-log.ts'
import { theatre } from '../theatre/theatre.ts'

export interface Refused {
  readonly code: string
  readonly message: string
}

interface Asked {
  readonly method?: string
  readonly body?: object
  readonly key?: string
}

/** A theatre with a console, one seat and a booking of it, for all tests of a file. */
export function useTheatre(settings: NodeJS.ProcessEnv = {}) {
  const DATA_DIR = mkdtempSync(join(tmpdir(), 'theatre-console-'))
  const keyFile = join(DATA_DIR, 'api-keys.json')
  const issue = (name: string, scopes?: readonly string[]) =>
    issueKey(keyFile, { service: 'theatre', name, ...(scopes && { scopes }) }, new Date())
  const lines: string[] = []
  const { key: operator } = issue('operator', ['read', 'write', 'bookings', 'operate'])
  let service: RunningService
  let seatId: number

  beforeAll(async () => {
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
    const config = readConfig(theatre, { DATA_DIR, PORT: '0', ...settings })
    service = await startService(theatre, config, logger, { lost: 0, warnings: [] })
    await vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(200), { timeout: 30_000 })
    const seat = { name: '<b>A12</b>\u202e', rowId: 7 }
    seatId = (await ask<{ id: number }>('v1/seats', { method: 'POST', body: seat })).body.id
    await ask('v1/bookings', { method: 'POST', body: { seatId } })
  }, 60_000)
  afterAll(async () => {
    await service.close()
    rmSync(DATA_DIR, { recursive: true })
  })

  async function ask<Body>(path: string, { method = 'GET', body, key = operator }: Asked = {}) {
    const response = await fetch(`${service.url}/${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body }
  }

  /** Appends a record as another producer may. Resolves to its place. */
  async function append(key: string, value: object): Promise<string> {
    const log = openSqliteEventLog({ file: join(DATA_DIR, 'event-log.db') })
    const offset = await log.append(0, [{ key, value: JSON.stringify(value), headers: {} }])
    await log.close()
    return `0/${offset}`
  }

  return {
    ask,
    append,
    issue,
    keyFile,
    /** What the service has logged. */
    lines,
    get url() {
      return service.url
    },
    get seatId() {
      return seatId
    },
  }
}
