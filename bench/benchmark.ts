import { findClient } from './load/client.ts'
import type { LoadClient } from './load/load.ts'
import type { Options } from './options.ts'
import { say } from './progress.ts'
import { asJson, asTables, type Report } from './report.ts'
import { runToEnd } from './run.ts'
import { embedded, onBrokers, type RunningService, type Service, startService } from './systems/service.ts'

export interface Benchmark<Measured> {
  /** Measures one form of the service. What it starts is ended with `stack`. */
  measure(stack: AsyncDisposableStack, service: RunningService, client: LoadClient): Promise<readonly Measured[]>
  /** What was done, for the titles of the tables. */
  how(client: LoadClient): string
  table(measured: readonly Measured[]): string
  json(measured: Measured): object
}

/** Measures the forms of the service one after the other, and prints what came out. Ends the process. */
export async function runBenchmark<Measured>(options: Options, benchmark: Benchmark<Measured>): Promise<never> {
  return await runToEnd(async (stack) => {
    const client = await findClient()
    const reports: Report<Measured>[] = []
    for (const service of options.embedded ? [onBrokers, embedded] : [onBrokers]) {
      reports.push({ title: service.title, measured: await measureService(stack, service, client, benchmark) })
    }
    const text = options.json
      ? asJson(reports, client.name, options, benchmark.json)
      : asTables(reports, benchmark.how(client), benchmark.table)
    process.stdout.write(text)
  })
}

async function measureService<Measured>(
  all: AsyncDisposableStack,
  service: Service,
  client: LoadClient,
  benchmark: Benchmark<Measured>,
): Promise<readonly Measured[]> {
  const stack = all.use(new AsyncDisposableStack())
  say(`${service.title}: starting`)
  const measured = await benchmark.measure(stack, await startService(stack, service), client)
  await stack.disposeAsync()
  return measured
}
