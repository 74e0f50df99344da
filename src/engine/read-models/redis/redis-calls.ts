import { readdirSync, readFileSync } from 'node:fs'
import { type Redis, ReplyError } from 'ioredis'
import { ServiceError } from '../../lib/errors.ts'
import { withRemedy } from './redis-errors.ts'

type Named = [name: string | null, logId: string | null, since: string | null]
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
    checkpoints: string[],
    recorded: string[],
    checkpointsOfBuilding: string[],
    actual: (string | number)[],
  ]
  generations: [active: Named, building: Named, replaced: string[]]
  'forget-version': unknown
  'load-partition':
    | [
        checkpoint: string,
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

/** Every request to Redis fails with the code of the catalogue. */
export async function answer<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply
  } catch (cause) {
    throw new ServiceError('read_model_unavailable', 'The read models could not be read.', { cause: withRemedy(cause) })
  }
}

/** Passes KEYS and ARGV as arrays, since spreading those of a large batch would overflow the stack. */
export function run<Script extends keyof Replies>(
  redis: Redis,
  script: Script,
  keys: readonly string[],
  args: readonly (string | number)[] = [],
): Promise<Replies[Script]> {
  type Call = (count: number, keys: unknown, args: unknown) => Promise<Replies[Script]>
  const call = (redis as unknown as Record<Script, Call>)[script] // created by the option `scripts`
  return answer(call.call(redis, keys.length, keys, args))
}

/** Undefined if the server refuses to answer: it is not part of a cluster, or this user may not ask. */
export async function ifTold<T>(reply: Promise<T>): Promise<T | undefined> {
  try {
    return await reply
  } catch (error) {
    if (!(error instanceof ReplyError)) throw error
    return undefined
  }
}

export function address({ options: { path, host, port } }: Redis): string {
  return path ?? `${host}:${port}`
}
