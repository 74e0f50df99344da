import { until } from '../../test/brokers/ready.ts'
import { newFolder } from '../../test/campaign/system/new-folder.ts'
import { findBrokers } from './brokers.ts'
import { type Server, type ServerOptions, startServer } from './child.ts'

const readyMs = 60_000

export type Environment = Readonly<Record<string, string>>

/** The service in one of its two forms. */
export interface Service {
  readonly title: string
  /** Starts what the API process needs beside it, and resolves to its environment. What was started ends with `stack`. */
  prepare(stack: AsyncDisposableStack): Promise<Environment>
}

/** As in production: the API in one process, the projector in another. */
export const onBrokers = onBrokersWith({})

export function onBrokersWith(settings: Environment): Service {
  return {
    title: 'Kafka + Redis',
    prepare: async (stack) => {
      const environment = { ...(await withBrokers(stack)), ...settings }
      await startProcess(stack, { ...environment, ROLE: 'projector' })
      return { ...environment, ROLE: 'api' }
    },
  }
}

/** Kafka and Redis, and a folder, until `stack` ends. */
export async function withBrokers(stack: AsyncDisposableStack): Promise<Environment> {
  return { ...(await findBrokers(stack)), DATA_DIR: newFolder(stack) }
}

/** What `npm start` runs: all in one process, on SQLite. */
export const embedded: Service = {
  title: 'Embedded (SQLite)',
  prepare: async (stack) => ({ DATA_DIR: newFolder(stack) }),
}

/** A form of the service that is ready. */
export interface RunningService {
  readonly service: Service
  readonly environment: Environment
  readonly url: string
}

export async function startService(stack: AsyncDisposableStack, service: Service): Promise<RunningService> {
  const environment = await service.prepare(stack)
  const { url } = await startProcess(stack, environment)
  return { service, environment, url }
}

/** A process of the service. Resolves once it is ready. */
export async function startProcess(
  stack: AsyncDisposableStack,
  environment: Environment,
  options: Pick<ServerOptions, 'node' | 'root'> = {},
): Promise<Server> {
  const server = await startServer(stack, 'src/main.ts', { ...options, environment })
  await until(`${server.url} is ready`, readyMs, async () => (await fetch(`${server.url}/readyz`)).ok)
  return server
}
