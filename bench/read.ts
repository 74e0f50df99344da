/** `npm run bench`: reads of the service beside a bare Fastify, in one run. See README.md. */
import { findClient } from './load/client.ts'
import { readOptions } from './options.ts'
import { type Measured, type Measuring, measure } from './pairs.ts'
import { fill } from './pets.ts'
import { say } from './progress.ts'
import { asJson, asTables, type Report } from './report.ts'
import { runToEnd } from './run.ts'
import { scenarios } from './scenarios.ts'
import { embedded, onBrokers, type Service } from './systems/service.ts'

const options = readOptions()

await runToEnd(async (stack) => {
  const client = await findClient()
  const reports: Report[] = []
  for (const service of options.embedded ? [onBrokers, embedded] : [onBrokers]) {
    reports.push({ title: service.title, measured: await measureService(stack, service, { client, ...options }) })
  }
  const { connections, rounds, seconds } = options
  const how = `${connections} connections of ${client.name}, ${rounds} rounds of ${seconds} s, ${options.pets} pets`
  process.stdout.write(options.json ? asJson(reports, client.name, options) : asTables(reports, how))
})

async function measureService(
  all: AsyncDisposableStack,
  service: Service,
  measuring: Measuring & { readonly pets: number },
): Promise<Measured[]> {
  const stack = all.use(new AsyncDisposableStack())
  say(`${service.title}: starting`)
  const { url } = await service.start(stack)
  say(`${service.title}: filling with ${measuring.pets} pets`)
  const filled = await fill(url, measuring.pets)
  const measured: Measured[] = []
  for (const scenario of scenarios(filled)) measured.push(await measure(stack, url, scenario, measuring))
  await stack.disposeAsync()
  return measured
}
