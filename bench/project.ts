/** `npm run bench:project`: replay of the log, memory of Redis, and reads over the size of the store. See README.md. */
import { findClient } from './load/client.ts'
import { projectOptions } from './options.ts'
import { writeCharts } from './project-charts.ts'
import { projectJson, projectTables, summarizeProjecting } from './project-report.ts'
import { measureReplays } from './replay.ts'
import { runToEnd } from './run.ts'
import { makeStore, measureLatencies, type Store } from './stores.ts'
import { findBrokers } from './systems/brokers.ts'
import { temporaryFolder } from './systems/service.ts'

const options = projectOptions()

await runToEnd(async (stack) => {
  const client = await findClient()
  const brokers = await findBrokers()
  stack.defer(() => brokers.remove())
  const environment = { ...brokers.environment, DATA_DIR: temporaryFolder(stack) }
  const replays = await measureReplays(stack, environment, options)
  const stores: Store[] = []
  for (const pets of options.pets) stores.push(await makeStore(stack, environment, pets))
  const latencies = await measureLatencies(stores, { ...options, client })
  const projecting = { replays, stores, latencies }
  const summary = summarizeProjecting(projecting)
  writeCharts(options.charts, summary)
  const text = options.json
    ? projectJson(projecting, summary, options, client.name)
    : projectTables(summary, options, client.name)
  process.stdout.write(text)
})
