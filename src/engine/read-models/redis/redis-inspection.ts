import type { Redis } from 'ioredis'
import { DamagedError, numberIn, quoted } from '../damaged.ts'
import { isKeyed, isTextSet, namedBy } from '../document.ts'
import { type Contents, type Inspection, type Size, scannedCharactersMax } from '../ports/inspection.ts'
import { readArguments, type SetLookup } from './group-reader.ts'
import { entryLookup } from './page-lookups.ts'
import { answer, orNothing, run } from './redis-calls.ts'
import type { RedisKeys } from './redis-keys.ts'
import { decodeEntry, decodeSnapshot, pairs, typeOf } from './stored.ts'

/** One script reads each answer, so that it reflects one moment. */
export function redisInspection(redis: Redis, keys: RedisKeys): Inspection {
  return {
    contents: (generation) => contentsOf(redis, keys, generation),

    async recorded(generation) {
      const { checkpoints, sizes } = keys.generation(generation)
      const reply = await run(redis, 'contents', [keys.active, checkpoints, sizes])
      if (reply === null) return undefined
      const [active, stored, recorded] = reply
      return {
        snapshot: decodeSnapshot(active, stored),
        sizes: new Map(pairs(recorded).map(([set, size]) => [set, sizeIn(set, size)])),
      }
    },

    async scan(generation, set, from = '', limit) {
      const { checkpoints, set: keyOf } = keys.generation(generation)
      const args = [from, limit, scannedCharactersMax, isKeyed(set) ? 'keyed' : '']
      const reply = await run(redis, 'scan-set', [keys.active, checkpoints, keyOf(set)], args)
      if (reply === null) return undefined
      const [active, stored, next, found] = reply
      const items = isKeyed(set) ? pairs(found).map(([entry]) => decodeEntry(entry)) : pairs(found)
      return { snapshot: decodeSnapshot(active, stored), items, next: next === '' ? undefined : next }
    },

    async find(generation, set, ids) {
      const lookups = ids.map((id) => lookupOf(set, id))
      const { keys: names, args } = readArguments(keys, generation, lookups)
      const [state, , ...texts] = await run(redis, 'read', names, args)
      const [active = '', ...stored] = state.split('\0')
      if (stored.length === 0) return undefined
      return { snapshot: decodeSnapshot(active, stored), texts: texts.map((text) => text ?? undefined) }
    },
  }
}

function lookupOf(set: string, id: string): SetLookup {
  if (isTextSet(set)) return { what: 'field', set, of: id }
  if (!isKeyed(set)) return { what: 'member', set, of: Number(id) }
  const [beginning, number] = namedBy(id) ?? [id, 0] // under the id 0 there is nothing
  return entryLookup(set, `${beginning}\0`, number)
}

function sizeIn(set: string, text: string): number {
  const size = numberIn(text)
  if (size === undefined) throw new DamagedError(`the recorded size of ${quoted(set)} is not a number`)
  return size
}

export async function contentsOf(redis: Redis, keys: RedisKeys, generation: string): Promise<Contents | undefined> {
  const { checkpoints, sizes, set } = keys.generation(generation)
  const fields = await orNothing(answer(redis.hkeys(sizes)), []) // of another type, the script names it
  const reply = await run(redis, 'contents', [keys.active, checkpoints, sizes, ...fields.map(set)], fields.map(typeOf))
  if (reply === null) return undefined
  const [active, stored, recorded, actual] = reply
  const found = new Map(pairs(recorded))
  if (found.size > fields.length) return await contentsOf(redis, keys, generation) // a set has been added meanwhile
  const counted = fields.map((field, i): [string, Size] => {
    return [field, { actual: Number(actual[i]), recorded: numberIn(found.get(field) ?? '0') ?? Number.NaN }]
  })
  return { snapshot: decodeSnapshot(active, stored), sizes: new Map(counted) }
}
