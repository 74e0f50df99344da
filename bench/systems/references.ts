import { HttpClient } from '../../test/lib/http-client.ts'
import { apiKey, headersOf, type Load } from '../load/load.ts'
import { type Server, startServer } from './child.ts'
import type { Environment } from './service.ts'

const script = 'bench/systems/reference-server.ts'

/** The answer to the first request of a load, as far as two systems have to agree. */
export interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: string
}

/** Throws when the status says that the request failed. */
export async function answerOf(url: string, load: Load): Promise<Answer> {
  const { method, paths, body } = load
  const client = new HttpClient({ url }, apiKey)
  const { status, headers, text } = await client.request(paths[0] ?? '', {
    method,
    headers: headersOf(load),
    body: body ?? null,
  })
  if (status < 200 || status > 299) throw new Error(`${method} ${url}${paths[0]}: ${status} ${text}`)
  return { status, type: headers.get('content-type'), body: text }
}

/** Starts a bare server that answers `load` with the very answer of the service. */
export async function startBare(
  stack: AsyncDisposableStack,
  load: Load,
  service: Answer,
  node: readonly string[] = [],
): Promise<Server> {
  const bare = await startServer(stack, script, { arguments: ['bare', load.method, service.body], node })
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
  const naive = await startServer(stack, script, { environment, arguments: ['naive'] })
  refuseDifference('naive', withoutId(await answerOf(naive.url, load)), withoutId(service))
  return naive
}

/** Two pets that differ in nothing else are answered alike. */
function withoutId(answer: Answer): Answer {
  return { ...answer, body: answer.body.replace(/^\{"id":\d+/, '{"id":0') }
}

/** Throws where a reference answers otherwise than the service. */
export function refuseDifference(reference: string, answer: Answer, service: Answer): void {
  const same = answer.status === service.status && answer.type === service.type && answer.body === service.body
  if (!same)
    throw new Error(`the ${reference} server answers ${JSON.stringify(answer)}, not ${JSON.stringify(service)}`)
}
