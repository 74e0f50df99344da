import { Redis } from 'ioredis'
import { HttpClient } from '../../test/lib/http-client.ts'
import { apiKey } from '../load/load.ts'
import { type Server, startServer } from './child.ts'
import type { Environment } from './service.ts'

/** With the braces of the service's own keys, so that they are removed with those. */
export function crudKeys(prefix: string) {
  const key = (name: string) => `{${prefix}:crud}:${name}`
  return {
    pet: (id: number | string) => key(`pet:${id}`),
    /** All pets, or those of one status. */
    list: (status?: string) => key(status === undefined ? 'pets' : `pets:${status}`),
  }
}

interface Pet {
  readonly id: number
  readonly status: string
}

/** Starts a plain service with the pets of the service, in the same Redis. */
export async function startCrud(stack: AsyncDisposableStack, environment: Environment, url: string): Promise<Server> {
  const { REDIS_URL = '', REDIS_PREFIX = '' } = environment
  const redis = new Redis(REDIS_URL)
  const keys = crudKeys(REDIS_PREFIX)
  for await (const { documents } of new HttpClient({ url }, apiKey).pages<Pet>('/v1/pets?limit=100')) {
    const writing = redis.pipeline()
    for (const pet of documents) {
      writing.set(keys.pet(pet.id), JSON.stringify(pet))
      for (const list of [keys.list(), keys.list(pet.status)]) writing.zadd(list, pet.id, String(pet.id))
    }
    await writing.exec()
  }
  redis.disconnect()
  return await startServer(stack, 'bench/systems/crud-server.ts', { environment })
}
