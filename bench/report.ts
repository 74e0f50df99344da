import type { Options } from './options.ts'

/** What was measured of one form of the service. */
export interface Report<Measured> {
  readonly title: string
  readonly measured: readonly Measured[]
}

export function asTables<Measured>(
  reports: readonly Report<Measured>[],
  how: string,
  table: (measured: readonly Measured[]) => string,
): string {
  return reports.map(({ title, measured }) => `${title}: ${how}\n\n${table(measured)}`).join('\n')
}

/** Every round, in the order in which they ran. */
export function asJson<Measured>(
  reports: readonly Report<Measured>[],
  client: string,
  options: Options,
  scenario: (measured: Measured) => object,
): string {
  const systems = reports.map(({ title, measured }) => ({ title, scenarios: measured.map(scenario) }))
  return `${JSON.stringify({ client, ...options, systems }, null, 2)}\n`
}
