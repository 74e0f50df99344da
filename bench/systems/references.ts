import { type Answer, answerOf, refuseDifference, withoutId } from '../answer.ts'
import type { Load } from '../load/load.ts'
import { type Server, type ServerOptions, startServer } from './child.ts'
import type { Environment } from './service.ts'

/** Starts a bare server that answers `load` with the very answer of the service. */
export async function startBare(stack: AsyncDisposableStack, load: Load, service: Answer): Promise<Server> {
  const bare = await start(stack, 'bench/systems/bare-server.ts', { arguments: [load.method, service.body] })
  refuseDifference('bare', await answerOf(bare.url, load), service)
  return bare
}

/** Starts a naive server on the storage of the service. It answers POST as the service does, but with ids of its own. */
export async function startNaive(
  stack: AsyncDisposableStack,
  environment: Environment,
  load: Load,
  service: Answer,
): Promise<Server> {
  const naive = await start(stack, 'bench/systems/naive-server.ts', { environment })
  refuseDifference('naive', withoutId(await answerOf(naive.url, load)), withoutId(service))
  return naive
}

async function start(stack: AsyncDisposableStack, script: string, options: ServerOptions): Promise<Server> {
  const server = await startServer(script, options)
  stack.defer(() => server.end())
  return server
}
