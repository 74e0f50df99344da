import { type Logger, pino } from 'pino'
import { readConfig } from '../app/config.ts'
import { openStorage, prepareProcess, type Storage } from '../app/storage.ts'
import type { Definition } from '../definition/definition.ts'
import { noReadModels } from '../lib/errors.ts'
import type { Stores } from '../read-models/shards.ts'
import type { ReadModelStore } from '../read-models/store.ts'

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

/** Looks into the active generation of each shard. Throws Error `noReadModels` where there is none. */
export function inActive<T>(
  stores: Stores,
  look: (store: ReadModelStore, generation: string) => Promise<T | undefined>,
): Promise<T[]> {
  return Promise.all(
    stores.map(async (store) => {
      const active = await store.generations.active()
      const found = active && (await look(store, active.name))
      if (found === undefined) throw new Error(noReadModels)
      return found
    }),
  )
}
