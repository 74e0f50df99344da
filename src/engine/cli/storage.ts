import { type Logger, pino } from 'pino'
import { readConfig } from '../app/config.ts'
import { openStorage, prepareProcess, type Storage } from '../app/storage/storage.ts'
import type { Definition } from '../definition/definition.ts'

/** Opens log and read models for one command; logs errors to standard error. */
export async function withStorage<T>(
  definition: Definition,
  work: (storage: Storage, logger: Logger) => Promise<T>,
): Promise<T> {
  const config = readConfig(definition, { ...process.env, ROLE: '' })
  await prepareProcess(config)
  const logger = pino({ level: process.env.LOG_LEVEL || 'error' }, process.stderr)
  const storage = await openStorage(definition, config, logger, { beside: true })
  return await work(storage, logger).finally(() => storage.close())
}
