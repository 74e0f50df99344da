import { readdirSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import type { Redis } from 'ioredis'
import { ServiceError } from '../../lib/errors/errors.ts'
import { DamagedError, quoted } from '../damaged.ts'
import { isOfAnotherType, isReply, withRemedy } from './redis-errors.ts'

type Named = [name?: string | null, logId?: string | null, since?: string | null]
/** The result of a script that inspects a generation: nil if the generation is gone. */
type WithSnapshot<Rest extends unknown[]> = [active: string, checkpoints: string[], ...rest: Rest] | null

/** The result of each script. Each script is a file beside this one, whose header is its signature. */
export interface Replies {
  'start-generation': string
  'build-generation': [name: string, logId: string]
  'activate-generation': 'activated' | 'behind' | 'incomplete' | 'not_building' | 'other_keys'
  'remove-generation': 'removed' | 'rest' | 'kept'
  look: [
    active: [name: string | null, logId: string | null, continues: string | null],
    building: [name: string | null, logId: string | null],
    checkpoints: string[] | null,
    recorded: string[] | null,
    checkpointsOfBuilding: string[] | null,
    actual: (string | number)[],
  ]
  generations: [active: Named, building: Named, replaced: string[]]
  'renew-version': unknown
  'forget-version': unknown
  'load-partition':
    | [
        checkpoint: string | null,
        members: string,
        rows: (string | null)[],
        parked: (string | null)[],
        decided: (string | null)[],
        waiting: (string | null)[],
      ]
    | null
  'apply-batch':
    | [outcome: 'applied' | 'checkpoint_mismatch' | 'generation_gone' | 'later' | 'incomplete']
    | [outcome: 'exist', streams: string[], collectionsAndIds: string[]]
  read: [state: string, completeness: string, ...found: (string | null)[]]
  contents: WithSnapshot<[recorded: string[], actual: (string | number)[]]>
  'scan-set': WithSnapshot<[next: string, idsAndTexts: string[]]>
}

/** For the options of a connection: each script becomes a method of it. */
export const scripts = Object.fromEntries(
  readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.lua'))
    .map((file) => [file.slice(0, -'.lua'.length), { lua: readFileSync(new URL(file, import.meta.url), 'utf8') }]),
)

/** Every request to Redis fails with the code of the catalogue; DamagedError where a key is of another type. */
export async function answer<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply
  } catch (cause) {
    if (isOfAnotherType(cause)) throw new DamagedError('a key is of another type', { cause })
    throw new ServiceError('read_model_unavailable', 'The read models could not be read.', { cause: withRemedy(cause) })
  }
}

/**
 * Passes KEYS and ARGV as arrays, since spreading those of a large batch would overflow the stack. Throws as `answer`, and
 * names the key that has a type which none has.
 */
export async function run<Script extends keyof Replies>(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[] = [],
): Promise<Replies[Script]> {
  type Call = (count: number, keys: unknown, args: unknown) => Promise<Replies[Script]>
  const call = (redis as unknown as Record<Script, Call>)[script] // created by the option `scripts`
  try {
    return await answer(call.call(redis, keys.length, keys, args))
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error
    throw (await damagedKey(redis, keys)) ?? error
  }
}

async function damagedKey(redis: Redis, keys: readonly string[]): Promise<DamagedError | undefined> {
  const types = await Promise.all(keys.map((key) => redis.type(key))).catch((): string[] => [])
  const at = types.findIndex((type) => !['hash', 'zset', 'none'].includes(type))
  const [, name = ''] = /}:(.*)$/s.exec(keys[at] ?? '') ?? [] // the rest is the same for all keys of a store
  return at < 0 ? undefined : new DamagedError(`key ${quoted(name)} is of type ${types[at]}`)
}

/** What is of another type, outside of a generation, counts as missing. */
export async function orNothing<T>(reply: Promise<T>, nothing: T): Promise<T> {
  return await reply.catch((error) => {
    if (error instanceof DamagedError) return nothing
    throw error
  })
}

/**
 * What a server says that does not have the command, or not for this user: among others, one without a cluster. Any
 * other refusal, such as BUSY or LOADING, is one of the moment.
 */
const isNotOffered = /^(ERR|NOPERM)\b/

/** Undefined if the server does not offer the command to this user. Throws if it does not answer, or cannot just now. */
export async function ifTold<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply
  } catch (error) {
    if (!isReply(error) || !isNotOffered.test(error.message)) throw error
    return undefined
  }
}

export function address({ options: { path, host = '', port } }: Redis): string {
  return path ?? `${isIPv6(host) ? `[${host}]` : host}:${port}`
}
