import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'

/** Each script is a file; its name ends in the number of its KEYS, where that is fixed, and its header is its signature. */
export const scriptFiles = {
  startGeneration: 'start-generation-3.lua',
  buildGeneration: 'build-generation-2.lua',
  activateGeneration: 'activate-generation.lua',
  removeGeneration: 'remove-generation-4.lua',
  generations: 'generations-3.lua',
  renewVersion: 'renew-version-1.lua',
  oldVersions: 'old-versions-1.lua',
  forgetVersion: 'forget-version-1.lua',
  loadPartition: 'load-partition-7.lua',
  applyBatch: 'apply-batch.lua',
  read: 'read.lua',
  contents: 'contents.lua',
  scanSet: 'scan-set-3.lua',
  findInSet: 'find-in-set-3.lua',
} as const

type Named = [name: string | null, logId: string | null, since: string | null]
/** What a script that inspects a generation returns: nil where it is gone. */
type WithSnapshot<Rest extends unknown[]> = [active: string, checkpoints: string[], ...rest: Rest] | null

/** What each script returns. */
export interface Replies {
  startGeneration: unknown
  buildGeneration: [name: string, logId: string]
  activateGeneration: 'activated' | 'behind' | 'incomplete' | 'not_building' | 'other_keys'
  removeGeneration: 'removed' | 'rest' | 'kept'
  generations: [active: Named, building: Named, replaced: string[]]
  renewVersion: unknown
  oldVersions: string[]
  forgetVersion: unknown
  loadPartition:
    | [checkpoint: string, members: string, rows: string[], parked: string[], decided: string[], queues: string[][]]
    | null
  applyBatch:
    | [outcome: 'applied' | 'checkpoint_mismatch' | 'generation_gone' | 'later']
    | [outcome: 'exist', streams: string[], collectionsAndIds: string[]]
  read: [state: string, completeness: string, ...found: (string | null)[]]
  contents: WithSnapshot<[recorded: string[], actual: (string | number)[]]>
  scanSet: WithSnapshot<[next: string, idsAndTexts: string[]]>
  findInSet: WithSnapshot<[texts: (string | null)[]]>
}

export type Script = keyof Replies

/** Gives the connection a method for each script. */
export function defineScripts(redis: Redis): void {
  for (const [name, file] of Object.entries(scriptFiles)) {
    redis.defineCommand(name, { lua: readFileSync(new URL(file, import.meta.url), 'utf8') })
  }
}

/** Takes KEYS and ARGV as arrays, since spreading those of a large batch would overflow the stack. */
export function runScript<S extends Script>(
  redis: Redis,
  script: S,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Replies[S]> {
  type Scripts = { [S in Script]: (count: number, keys: unknown, args: unknown) => Promise<Replies[S]> }
  return (redis as unknown as Scripts)[script](keys.length, keys, args) // as `defineScripts` made it
}
