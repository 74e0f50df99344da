import { setTimeout as delay } from 'node:timers/promises'
import { type Environment, resultOf, runProgram } from '../../brokers/program.ts'
import { until, within } from '../../brokers/ready.ts'
import { Recorder } from '../recorder.ts'
import type { Served } from '../served.ts'
import type { Supervised } from '../system/supervised.ts'
import type { Fault } from './fault.ts'

/** Followed within a second, or refused within 30 s where a server cannot read the file (docs/operations.md#api-keys). */
const revokedMs = 30_000
const takenMs = 30_000
const diskMs = 60_000

/** Runs the command line of a service as an operator does, for a minute at most. */
export async function runProgramOf({ cli }: Served, environment: Environment, ...args: string[]) {
  const program = runProgram([process.execPath, cli, ...args], environment)
  const impatience = setTimeout(() => program.end('SIGTERM'), 60_000)
  const result = await resultOf(program)
  clearTimeout(impatience)
  return result
}

export interface Operated {
  readonly served: Served
  readonly environment: Readonly<Record<string, string>>
  readonly apis: readonly Supervised[]
  /** Told what a person sees that must not be. */
  readonly wrong: (what: string) => void
}

/** A person who rebuilds at any time. It succeeds unless there are other faults. */
export function rebuild({ served, environment, wrong }: Pick<Operated, 'served' | 'environment' | 'wrong'>): Fault {
  return {
    kind: 'rebuild',
    inflict: async ({ isAlone }) => {
      const { code, errors } = await runProgramOf(served, environment, 'rebuild')
      if (isAlone && code !== 0) wrong(`a rebuild without another fault ended with ${code}: ${errors.slice(-2000)}`)
      return code === 0
    },
  }
}

/** A key is issued, used and revoked: after 30 s at the latest nobody takes it. */
export function keyRevocation({ served, environment, apis, wrong }: Operated): Fault {
  return {
    kind: 'an API key is revoked',
    inflict: async ({ isAlone }) => {
      const issued = await runProgramOf(served, environment, 'keys', 'issue', '--name', 'short-lived', '--json')
      if (issued.code !== 0) return false // a full disk
      const { id, key } = JSON.parse(issued.output)
      const ask = asking(served, key)
      const statuses = await Promise.all(apis.map((api) => untilTaken(api, ask)))
      const notTaken = statuses.filter((status) => status !== 200)
      if (isAlone ? notTaken.length > 0 : notTaken.includes(401))
        wrong(`a key that was issued is answered ${statuses} by ${apis.map(({ name }) => name)}`)
      await until('the key is revoked', diskMs, async () => {
        return (await runProgramOf(served, environment, 'keys', 'revoke', id, '--yes')).code === 0
      })
      const late = await Promise.all(apis.map((api) => stillTaken(api, ask)))
      for (const what of late) if (what !== undefined) wrong(what)
      return notTaken.length === 0
    },
  }
}

/** Asks with this key, and resolves to the status. What others ask is never answered 401, so it has a recorder of its own. */
function asking({ listing }: Served, apiKey: string): (api: Supervised) => Promise<number | undefined> {
  const recorder = new Recorder()
  const list = { operation: listing, page: { after: 0, limit: 1 }, session: undefined, apiKey }
  return async (api) => (await recorder.ask(api, list))?.status
}

/** Resolves to 200, or to the last status if it is never that. */
async function untilTaken(api: Supervised, ask: ReturnType<typeof asking>): Promise<number | undefined> {
  let status: number | undefined
  await within(takenMs, async () => {
    status = await ask(api)
    return status === 200
  })
  return status
}

/** Resolves once this process refuses the key, or to what is wrong. */
async function stillTaken(api: Supervised, ask: ReturnType<typeof asking>): Promise<string | undefined> {
  const deadline = performance.now() + revokedMs
  for (;;) {
    const isLate = performance.now() > deadline
    const status = await ask(api)
    if (status === 401) return undefined
    if (isLate && status !== undefined) return `${api.instance} takes a revoked key: ${status}`
    if (performance.now() > deadline + revokedMs) return `${api.instance} is not there a minute after a key was revoked`
    await delay(100)
  }
}
