import type { Options } from './options.ts'
import type { Measured } from './pairs.ts'
import { summarize } from './statistics.ts'
import { table } from './table.ts'

export interface Report {
  readonly title: string
  readonly measured: readonly Measured[]
}

export function asTables(reports: readonly Report[], how: string): string {
  return reports.map(({ title, measured }) => `${title}: ${how}\n\n${table(measured)}`).join('\n')
}

/** Every round, in the order in which they ran. */
export function asJson(reports: readonly Report[], client: string, options: Options): string {
  const systems = reports.map(({ title, measured }) => ({ title, scenarios: measured.map(scenarioAsJson) }))
  return `${JSON.stringify({ client, ...options, systems }, null, 2)}\n`
}

function scenarioAsJson(measured: Measured) {
  const { scenario, payloadBytes, pairs } = measured
  const { name, target } = scenario
  return { name, target, payloadBytes, ...summarize(measured), pairs }
}
