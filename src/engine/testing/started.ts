import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defined } from '../define-service.ts'
import type { Program } from '../program.ts'
import { loadService } from './load-service.ts'
import { untilReady } from './until-ready.ts'

export interface Started extends AsyncDisposable {
  /** `http://127.0.0.1` and a port that was free. */
  readonly url: string
  /** An API key of every scope. */
  readonly key: string
  /** Finishes what is in flight, and removes the folder. */
  close(): Promise<void>
}

/**
 * The whole service, embedded in this process, in a new folder that goes with it. It logs nothing, unless LOG_LEVEL is set
 * among `settings`: variables as docs/configuration.md has them. Throws an Error with words that say why it cannot be
 * started.
 */
export async function startForTest(
  { service }: Pick<Program, 'service'>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const definition = defined(service)
  const { pino, readConfig, startService } = await loadService()
  const key = randomUUID()
  const folder = await mkdtemp(join(tmpdir(), `${service.name}-`))
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    const own = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: folder, API_KEYS: key }
    const config = readConfig(definition, { LOG_LEVEL: 'silent', ...settings, ...own })
    const logger = pino({ level: config.logLevel })
    const { url, close: end } = await startService(definition, config, logger, { lost: 0, warnings: [] })
    const close = async () => {
      await end()
      await remove()
    }
    await untilReady(async () => {
      const response = await fetch(`${url}/readyz`)
      return { status: response.status, body: await response.text() }
    })
    return { url, key, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await remove()
    throw error
  }
}
