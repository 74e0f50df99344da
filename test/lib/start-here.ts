import { type Logger, pino } from 'pino'
import { expect, vi } from 'vitest'
import { readConfig } from '../../src/engine/app/config.ts'
import { type RunningService, startService } from '../../src/engine/app/service.ts'
import type { Definition } from '../../src/engine/definition/definition.ts'
import { apiKey } from './http-client.ts'
import { temporaryFolder } from './temporary-folder.ts'
import { whenDone } from './when-done.ts'

/** Starts a service in this process, on a free port; resolves once it is ready. It ends with the test, or the suite that shares it. */
export async function startHere(
  definition: Definition,
  settings: NodeJS.ProcessEnv = {},
  logger: Logger = pino({ level: 'silent' }),
): Promise<RunningService> {
  const config = readConfig(definition, { DATA_DIR: temporaryFolder(), PORT: '0', API_KEYS: apiKey, ...settings })
  const service = await startService(definition, config, logger, { lost: 0, warnings: [] })
  whenDone(() => service.close())
  await vi.waitFor(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(200), { timeout: 30_000 })
  return service
}
