/** `npm run bench:write`: writes of the service beside a bare and a naive server, in one run. See README.md. */
import { answerOf } from './answer.ts'
import { runBenchmark } from './benchmark.ts'
import type { LoadClient } from './load/load.ts'
import { writeOptions } from './options.ts'
import { caughtUp } from './pets.ts'
import { measureInTurn, type Systems, warmUp } from './rounds.ts'
import { post, postWithoutWait } from './scenarios.ts'
import { startBare, startNaive } from './systems/references.ts'
import type { RunningService } from './systems/service.ts'
import { type MeasuredWrite, writeJson, writeTable } from './write-report.ts'
import type { WriteSystem } from './write-summary.ts'

const options = writeOptions()
const manyConnections = 64
/** With few connections: the first thousands of requests are slower, and few pass in a second. */
const fewWarmUpSeconds = 30

await runBenchmark<MeasuredWrite>(options, {
  measure: measureWrites,
  how: ({ name }) => {
    const { connections, rounds, seconds } = options
    return `${connections.join(', ')} connections of ${name}, ${rounds} rounds of ${seconds} s`
  },
  table: writeTable,
  json: writeJson,
})

async function measureWrites(
  stack: AsyncDisposableStack,
  running: RunningService,
  client: LoadClient,
): Promise<MeasuredWrite[]> {
  const { service } = running
  const systems = await startSystems(stack, running)
  await warmUp(service.title, systems, { client, connections: manyConnections })
  const fewest = Math.min(...options.connections)
  if (fewest < manyConnections) await warmUp(service.title, systems, { client, connections: fewest }, fewWarmUpSeconds)
  const measured: MeasuredWrite[] = []
  for (const connections of options.connections) {
    const what = `${service.title}, ${connections} connections`
    const cycles = await measureInTurn(what, systems, { ...options, client, connections })
    measured.push({ service, connections, cycles })
  }
  return measured
}

async function startSystems(
  stack: AsyncDisposableStack,
  { url, environment }: RunningService,
): Promise<Systems<WriteSystem>> {
  const answer = await answerOf(url, post)
  const bare = await startBare(stack, post, answer)
  const naive = await startNaive(stack, environment, post, answer)
  const settle = () => caughtUp(url, environment)
  return [
    { name: 'bare', url: bare.url, load: post },
    { name: 'naive', url: naive.url, load: post },
    { name: 'service, wait=0', url, load: postWithoutWait, settle },
    { name: 'service', url, load: post, settle },
  ]
}
