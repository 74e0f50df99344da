import { readFileSync } from 'node:fs'
import type { ClientContext, Redis, Result } from 'ioredis'
import type { RangesReply } from './range-reader.ts'

/** Each script is a file; its name ends in the number of its KEYS, where that is fixed, and its header is its signature. */
export const scriptFiles = {
  startGeneration: 'start-generation-3.lua',
  buildGeneration: 'build-generation-2.lua',
  activateGeneration: 'activate-generation.lua',
  removeGeneration: 'remove-generation.lua',
  generations: 'generations-3.lua',
  renewVersion: 'renew-version-1.lua',
  oldVersions: 'old-versions-1.lua',
  forgetVersion: 'forget-version-1.lua',
  applyBatch: 'apply-batch.lua',
  readRanges: 'read-ranges.lua',
  partitionStates: 'partition-states-2.lua',
  parkedUnder: 'parked-under-2.lua',
  parkedEvents: 'parked-events-4.lua',
  parkedEvent: 'parked-event-3.lua',
  contents: 'contents.lua',
  entries: 'entries-3.lua',
  decidedKeys: 'decided-keys-3.lua',
} as const

type Named = [name: string | null, epoch: string | null, since: string | null]
/** What `generations-3.lua` returns. */
export type StoredNames = [active: Named, building: Named, replaced: string[]]

/** What a script that inspects a generation returns first. */
type AtOneMoment<Rest extends unknown[]> = [active: string, checkpoints: string[], ...rest: Rest]
type ContentsReply = AtOneMoment<
  [counters: string[], parked: string | number, decisions: string | number, sizes: (string | number)[]]
>

declare module 'ioredis' {
  // Those that take their number of keys first take arrays, since spreading a large batch would overflow the stack.
  interface RedisCommander<Context extends ClientContext = { type: 'default' }> {
    startGeneration(active: string, replaced: string, checkpoints: string, ...args: string[]): Result<unknown, Context>
    buildGeneration(
      building: string,
      checkpoints: string,
      name: string,
      epoch: string,
    ): Result<[name: string, epoch: string], Context>
    activateGeneration(
      numberOfKeys: number,
      keys: string[],
      args: string[],
    ): Result<'activated' | 'behind' | 'incomplete' | 'not_building' | 'other_keys', Context>
    removeGeneration(
      numberOfKeys: number,
      keys: string[],
      args: string[],
    ): Result<'removed' | 'kept' | 'other_keys', Context>
    generations(active: string, building: string, replaced: string): Result<StoredNames, Context>
    renewVersion(versions: string, version: string): Result<unknown, Context>
    oldVersions(versions: string, graceMs: string): Result<string[], Context>
    forgetVersion(versions: string, version: string, graceMs: string): Result<unknown, Context>
    applyBatch(
      numberOfKeys: number,
      keys: string[],
      args: string[],
    ): Result<[outcome: string, ...idsAndTagsOrKeys: string[]], Context>
    readRanges(numberOfKeys: number, keys: string[], args: [number, string]): Result<RangesReply, Context>
    partitionStates(
      checkpoints: string,
      parkedSubjects: string,
      ...partitions: string[]
    ): Result<[checkpoint: string, parkedSubjects: string[]][] | null, Context>
    parkedUnder(parked: string, parkedOffsets: string, partition: string, subject: string): Result<string[], Context>
    parkedEvents(
      active: string,
      checkpoints: string,
      parked: string,
      parkedOffsets: string,
      ...args: string[]
    ): Result<AtOneMoment<[last: string, fieldsAndEvents: string[]]> | null, Context>
    parkedEvent(
      active: string,
      checkpoints: string,
      parked: string,
      field: string,
    ): Result<AtOneMoment<[event: string | null]> | null, Context>
    contents(numberOfKeys: number, keys: string[]): Result<ContentsReply | null, Context>
    entries(
      active: string,
      checkpoints: string,
      set: string,
      from: string,
      limit: string,
    ): Result<AtOneMoment<[membersAndIds: string[]]> | null, Context>
    decidedKeys(
      active: string,
      checkpoints: string,
      decisions: string,
      cursor: string,
      count: string,
    ): Result<AtOneMoment<[scanned: [next: string, keysAndDecisions: string[]]]> | null, Context>
  }
}

/** Gives the connection a method for each script. */
export function defineScripts(redis: Redis): void {
  for (const [name, file] of Object.entries(scriptFiles)) {
    const lua = readFileSync(new URL(file, import.meta.url), 'utf8')
    const keys = /-(\d+)\.lua$/.exec(file)?.[1]
    redis.defineCommand(name, keys === undefined ? { lua } : { lua, numberOfKeys: Number(keys) })
  }
}
