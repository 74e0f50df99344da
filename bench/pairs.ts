import { type Load, type LoadClient, type Round, requestHeaders } from './load/load.ts'
import { say } from './progress.ts'
import type { Scenario } from './scenarios.ts'
import { startServer } from './systems/child.ts'

/** One round of each, one right after the other. */
export interface Pair {
  readonly bare: Round
  readonly service: Round
}

export interface Measured {
  readonly scenario: Scenario
  readonly payloadBytes: number
  readonly pairs: readonly Pair[]
}

export interface Measuring {
  readonly client: LoadClient
  readonly connections: number
  readonly seconds: number
  readonly rounds: number
}

/** Of each side: so long until the engine has compiled what is hot, and a request costs the same from then on. */
const warmUpSeconds = 10

/** Measures the service beside a bare server that answers with what the service answers. */
export async function measure(
  stack: AsyncDisposableStack,
  serviceUrl: string,
  scenario: Scenario,
  measuring: Measuring,
): Promise<Measured> {
  const { load } = scenario
  const answer = await answerOf(serviceUrl, load)
  const bare = await startServer('bench/systems/bare-server.ts', { arguments: [load.method, answer.body] })
  stack.defer(() => bare.end())
  refuseDifference(answer, await answerOf(bare.url, load))
  const pairs = await measurePairs(bare.url, serviceUrl, scenario, measuring)
  await bare.end()
  return { scenario, payloadBytes: Buffer.byteLength(answer.body), pairs }
}

async function measurePairs(
  bareUrl: string,
  serviceUrl: string,
  { name, load }: Scenario,
  measuring: Measuring,
): Promise<Pair[]> {
  say(`${name}: warming up`)
  await pair(bareUrl, serviceUrl, load, { ...measuring, seconds: warmUpSeconds })
  const pairs: Pair[] = []
  for (let round = 1; round <= measuring.rounds; round++) {
    const measured = await pair(bareUrl, serviceUrl, load, measuring)
    const ratio = measured.service.requestsPerSecond / measured.bare.requestsPerSecond
    say(`${name}: round ${round} of ${measuring.rounds}: ${ratio.toFixed(2)}`)
    pairs.push(measured)
  }
  return pairs
}

async function pair(bareUrl: string, serviceUrl: string, load: Load, measuring: Measuring): Promise<Pair> {
  const { client, connections, seconds } = measuring
  const bare = await client.run({ url: bareUrl, load, connections, seconds })
  const service = await client.run({ url: serviceUrl, load, connections, seconds })
  return { bare, service }
}

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: string
}

async function answerOf(url: string, { method, paths, body }: Load): Promise<Answer> {
  const response = await fetch(`${url}${paths[0]}`, { method, headers: requestHeaders, body: body ?? null })
  const { status, ok, headers } = response
  const text = await response.text()
  if (!ok) throw new Error(`${method} ${url}${paths[0]}: ${status} ${text}`)
  return { status, type: headers.get('content-type'), body: text }
}

function refuseDifference(service: Answer, bare: Answer): void {
  const same = service.status === bare.status && service.type === bare.type && service.body === bare.body
  if (!same) throw new Error(`the bare server answers ${JSON.stringify(bare)}, not ${JSON.stringify(service)}`)
}
