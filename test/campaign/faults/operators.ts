import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Recorder } from '../recorder.ts'
import type { Supervised } from '../system/supervised.ts'
import type { Fault } from './fault.ts'

const cli = join(import.meta.dirname, '../../../src/cli.ts')

/** Followed within a second, or refused within 30 s where a server cannot read the file (docs/operations.md). */
const revokedMs = 30_000

export interface Ran {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs the command line as an operator does. */
export function petstore(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> {
  const { PATH } = process.env
  return new Promise((resolve) => {
    const options = { env: { PATH, ...environment }, maxBuffer: 2 ** 28, timeout: 120_000 }
    const child = execFile(process.execPath, [cli, ...args], options, (_, output, errors) =>
      resolve({ code: child.exitCode ?? -1, output, errors }),
    )
  })
}

export interface Operated {
  readonly environment: Readonly<Record<string, string>>
  readonly apis: readonly Supervised[]
  readonly recorder: Recorder
  /** Told what a person sees that must not be. */
  readonly wrong: (what: string) => void
}

/** A person who rebuilds at any time. It succeeds unless there are other faults. */
export function rebuild({ environment, wrong }: Pick<Operated, 'environment' | 'wrong'>): Fault {
  return {
    kind: 'rebuild',
    inflict: async (_, isAlone) => {
      const { code, errors } = await petstore(environment, 'rebuild')
      if (isAlone && code !== 0) wrong(`a rebuild without another fault ended with ${code}: ${errors.slice(-2000)}`)
      return code === 0
    },
  }
}

/** A key is issued, used and revoked: after 30 s at the latest nobody takes it. */
export function keyRevocation({ environment, apis, recorder, wrong }: Operated): Fault {
  return {
    kind: 'an API key is revoked',
    inflict: async (random) => {
      const issued = await petstore(environment, 'keys', 'issue', '--name', 'short-lived', '--json')
      if (issued.code !== 0) return false // a full disk
      const { id, key } = JSON.parse(issued.output)
      const ask = (api: Supervised) =>
        recorder.ask(api, { operation: 'listPets', page: { after: 0, limit: 1 }, session: undefined, apiKey: key })
      await ask(random.pick(apis))
      while ((await petstore(environment, 'keys', 'revoke', id, '--yes')).code !== 0) await delay(200)
      const deadline = performance.now() + revokedMs
      for (const api of apis) {
        for (let status: number | undefined; status !== 401; status = (await ask(api))?.status) {
          if (performance.now() > deadline) {
            if (status === 200) wrong(`${api.instance} takes a revoked key`)
            return true
          }
          await delay(100)
        }
      }
      return true
    },
  }
}
