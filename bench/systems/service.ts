import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../test/brokers/ready.ts'
import { findBrokers } from './brokers.ts'
import { type Server, startServer } from './child.ts'

const main = 'src/main.ts'
const readyMs = 60_000

/** The service in one of its two forms. */
export interface Service {
  readonly title: string
  /** Resolves once the API is ready. What was started is ended with `stack`. */
  start(stack: AsyncDisposableStack): Promise<Server>
}

/** As in production: the API in one process, the projector in another. */
export const onBrokers: Service = {
  title: 'Kafka + Redis',
  start: async (stack) => await startApi(stack, await startProjector(stack)),
}

/** What `npm start` runs: all in one process, on SQLite. */
export const embedded: Service = {
  title: 'Embedded (SQLite)',
  start: async (stack) => await startRole(stack, { DATA_DIR: temporaryFolder(stack) }),
}

type Environment = Readonly<Record<string, string>>

/** Starts brokers and a projector on them; resolves to the environment that an API process shares with them. */
export async function startProjector(stack: AsyncDisposableStack): Promise<Environment> {
  const brokers = await findBrokers()
  stack.defer(() => brokers.remove())
  const environment = { ...brokers.environment, DATA_DIR: temporaryFolder(stack) }
  await startRole(stack, { ...environment, ROLE: 'projector' })
  return environment
}

/** The API on brokers that a projector serves, with Node's own options where wanted. */
export async function startApi(
  stack: AsyncDisposableStack,
  environment: Environment,
  node: readonly string[] = [],
): Promise<Server> {
  return await startRole(stack, { ...environment, ROLE: 'api' }, node)
}

async function startRole(
  stack: AsyncDisposableStack,
  environment: Environment,
  node: readonly string[] = [],
): Promise<Server> {
  const server = await startServer(main, { environment, node })
  stack.defer(() => server.end())
  await untilReady(server)
  return server
}

async function untilReady({ url }: Server): Promise<void> {
  await until(`${url} is ready`, readyMs, async () => (await fetch(`${url}/readyz`)).ok)
}

function temporaryFolder(stack: AsyncDisposableStack): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'))
  stack.defer(() => rmSync(folder, { recursive: true }))
  return folder
}
