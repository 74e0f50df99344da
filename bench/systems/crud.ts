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

/** Its two forms: see crud-server.ts. */
export const crudForms = ['plain', 'pipelined'] as const
export type CrudForm = (typeof crudForms)[number]

/** Stores the pets of the service for the plain one, in the same Redis. */
export async function storeCrud({ REDIS_URL = '', REDIS_PREFIX = '' }: Environment, url: string): Promise<void> {
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
}

export async function startCrudServer(
  stack: AsyncDisposableStack,
  environment: Environment,
  form: CrudForm,
  node: readonly string[] = [],
): Promise<Server> {
  return await startServer(stack, 'bench/systems/crud-server.ts', { environment, arguments: [form], node })
}

/** Starts both forms with the pets of the service. */
export async function startCrud(
  stack: AsyncDisposableStack,
  environment: Environment,
  url: string,
): Promise<ReadonlyMap<CrudForm, Server>> {
  await storeCrud(environment, url)
  const servers = new Map<CrudForm, Server>()
  for (const form of crudForms) servers.set(form, await startCrudServer(stack, environment, form))
  return servers
}
