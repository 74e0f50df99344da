/** `npm run bench`: reads of the service beside a bare Fastify, in one run. See README.md. */
import { answerOf } from './answer.ts'
import { runBenchmark } from './benchmark.ts'
import { readOptions } from './options.ts'
import { fill } from './pets.ts'
import { say } from './progress.ts'
import { type MeasuredRead, readJson, readTable } from './read-report.ts'
import { type Measuring, measureInTurn, type Systems, warmUp } from './rounds.ts'
import { type Read, reads } from './scenarios.ts'
import { startBare } from './systems/references.ts'

const options = readOptions()
const { connections, rounds, seconds, pets } = options

await runBenchmark<MeasuredRead>(options, {
  measure: async (stack, { service, url }, client) => {
    say(`${service.title}: filling with ${pets} pets`)
    const filled = await fill(url, pets)
    const measured: MeasuredRead[] = []
    for (const read of reads(filled)) measured.push(await measureRead(stack, url, read, { client, ...options }))
    return measured
  },
  how: ({ name }) => `${connections} connections of ${name}, ${rounds} rounds of ${seconds} s, ${pets} pets`,
  table: readTable,
  json: readJson,
})

/** Measures the service beside a bare server that answers with what the service answers. */
async function measureRead(
  stack: AsyncDisposableStack,
  url: string,
  read: Read,
  measuring: Measuring,
): Promise<MeasuredRead> {
  const { name, load } = read
  const answer = await answerOf(url, load)
  const bare = await startBare(stack, load, answer)
  const systems: Systems<'bare' | 'service'> = [
    { name: 'bare', url: bare.url, load },
    { name: 'service', url, load },
  ]
  await warmUp(name, systems, measuring)
  const pairs = await measureInTurn(name, systems, measuring)
  await bare.end()
  return { read, payloadBytes: Buffer.byteLength(answer.body), pairs }
}
