import { readFileSync } from 'node:fs'
import type { ClientContext, Redis, Result } from 'ioredis'
import type { RangesReply } from './range-reader.ts'

/** Each script is a file; its name ends in the number of its KEYS, where that is fixed, and its header is its signature. */
export const scriptFiles = {
  startGeneration: 'start-generation-2.lua',
  applyBatch: 'apply-batch.lua',
  readRanges: 'read-ranges.lua',
  partitionStates: 'partition-states-2.lua',
} as const

declare module 'ioredis' {
  interface RedisCommander<Context extends ClientContext = { type: 'default' }> {
    startGeneration(active: string, checkpoints: string, ...args: string[]): Result<string, Context>
    /** Arrays, since spreading a large batch would overflow the stack. */
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
