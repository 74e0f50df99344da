import type { LoadClient } from './load/load.ts'
import { findClient } from './load/wrk.ts'
import { type Options, printJson, runToEnd, say } from './run.ts'
import { embedded, onBrokers, type RunningService, startService } from './systems/service.ts'

export interface Benchmark<Measured> {
  /** Measures one form of the service. Everything it starts ends with `stack`. */
  measure(stack: AsyncDisposableStack, service: RunningService, client: LoadClient): Promise<readonly Measured[]>
  /** What was measured, for the titles of the tables. */
  how(client: LoadClient): string
  table(measured: readonly Measured[]): string
  /** Every round, in the order in which they ran. */
  json(measured: Measured): object
}

/** Measures the forms of the service one after the other, and prints the results. Ends the process. */
export async function runBenchmark<Measured>(options: Options, benchmark: Benchmark<Measured>): Promise<never> {
  return await runToEnd(async (all) => {
    const client = await findClient()
    const reports: { title: string; measured: readonly Measured[] }[] = []
    for (const service of options.embedded ? [onBrokers, embedded] : [onBrokers]) {
      const { title } = service
      const stack = all.use(new AsyncDisposableStack())
      say(`${title}: starting`)
      const measured = await benchmark.measure(stack, await startService(stack, service), client)
      reports.push({ title, measured })
      await stack.disposeAsync()
    }
    if (options.json) {
      const systems = reports.map(({ title, measured }) => ({ title, scenarios: measured.map(benchmark.json) }))
      printJson({ client: client.name, ...options, systems })
    } else {
      const how = benchmark.how(client)
      const tables = reports.map(({ title, measured }) => `${title}: ${how}\n\n${benchmark.table(measured)}`)
      process.stdout.write(tables.join('\n'))
    }
  })
}
