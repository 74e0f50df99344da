import { pino } from 'pino'
import { type Config, readConfig } from '../app/config.ts'
import { openStorageBeside, type Storage } from '../app/storage.ts'
import { NoReadModelsError } from '../lib/errors.ts'
import type { ReadModels } from '../read-models/read-models.ts'
import type { Shards } from '../read-models/shards.ts'

/** Log and read models for the length of a command. What goes on in them is told on standard error, if it matters. */
export async function withStorage<T>(
  work: (storage: Storage, context: { config: Config; logger: pino.Logger }) => Promise<T>,
): Promise<T> {
  const config = readConfig({ ...process.env, ROLE: '' })
  const logger = pino({ level: process.env.LOG_LEVEL || 'error' }, pino.destination(2))
  const storage = await openStorageBeside(config, logger)
  try {
    return await work(storage, { config, logger })
  } finally {
    await storage.close()
  }
}

/** Of the active generation of each shard. Throws NoReadModelsError where there is none. */
export function inActive<T>(
  stores: Shards,
  look: (store: ReadModels, generation: string) => Promise<T | undefined>,
): Promise<T[]> {
  return Promise.all(
    stores.map(async (store) => {
      const active = await store.active()
      const found = active && (await look(store, active.name))
      if (found === undefined) throw new NoReadModelsError()
      return found
    }),
  )
}
