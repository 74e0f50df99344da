import {
  type Contents,
  type DecidedKeys,
  type Entries,
  type Inspection,
  type ParkedEvents,
  type ParkedThere,
  type Place,
  parkedCharactersMax,
  type Size,
} from '../inspection.ts'
import { decodeDecision } from '../key-decision.ts'
import type { RangeQuery } from '../read-models.ts'
import type { RedisCalls } from './redis-calls.ts'
import { addedField, indexOfField, type RedisKeys } from './redis-keys.ts'
import { decodeParkedAt, parkedField } from './stored-parked-event.ts'
import { pairs, type StoredState, storedState } from './stored-state.ts'

/** Each answer is read by one script, so that it is of one moment. */
export class RedisInspection implements Inspection {
  readonly #calls: RedisCalls
  readonly #keys: RedisKeys

  constructor(calls: RedisCalls, keys: RedisKeys) {
    this.#calls = calls
    this.#keys = keys
  }

  async contents(generation: string): Promise<Contents | undefined> {
    const keys = this.#keys.generation(generation)
    const { active } = this.#keys
    // The script is told the indexes, and may find that there is one more by now.
    for (let indexes = await this.#calls.indexesOf(keys); ; ) {
      const sets = [keys.documents, ...indexes.map((name) => keys.index(name))]
      const all = [active, keys.checkpoints, keys.counters, keys.parked, keys.decisions, ...sets]
      const reply = await this.#calls.answer((redis) => redis.contents(all.length, all))
      if (reply === null) return undefined
      const [activeName, fields, counters, parked, decisions, sizes] = reply
      const state = storedState(activeName, fields)
      const now = [...state.added.keys()].flatMap((field) => indexOfField(field) ?? [])
      if (now.every((name) => indexes.includes(name))) {
        return {
          moment: state.moment,
          documents: sizeOf(state, undefined, sizes[0]),
          indexes: new Map(indexes.map((name, i) => [name, sizeOf(state, name, sizes[i + 1])])),
          counters: new Map(pairs(counters).map(([name, count]) => [name, Number(count)])),
          parked: Number(parked),
          decisions: Number(decisions),
        }
      }
      indexes = now
    }
  }

  async entries(
    generation: string,
    { index, from, limit }: Pick<RangeQuery, 'index' | 'from' | 'limit'>,
  ): Promise<Entries | undefined> {
    const { checkpoints, documents, index: indexKey } = this.#keys.generation(generation)
    const set = index === undefined ? documents : indexKey(index)
    const reply = await this.#calls.answer((redis) =>
      redis.entries(this.#keys.active, checkpoints, set, String(from), String(limit)),
    )
    if (reply === null) return undefined
    const [active, fields, members] = reply
    const entries = pairs(members).map(([text, id]) => ({ id: Number(id), text }))
    return { moment: storedState(active, fields).moment, entries }
  }

  async decisions(generation: string, from: string, limit: number): Promise<DecidedKeys | undefined> {
    const { checkpoints, decisions } = this.#keys.generation(generation)
    const cursor = from === '' ? '0' : from
    const reply = await this.#calls.answer((redis) =>
      redis.decidedKeys(this.#keys.active, checkpoints, decisions, cursor, String(limit)),
    )
    if (reply === null) return undefined
    const [active, fields, [next, found]] = reply
    return {
      moment: storedState(active, fields).moment,
      decisions: pairs(found).map(([key, text]) => decodeDecision(key, text)),
      next: next === '0' ? undefined : next,
    }
  }

  async parked(generation: string, from: string, limit: number): Promise<ParkedEvents | undefined> {
    const { checkpoints, parked, parkedOffsets } = this.#keys.generation(generation)
    const args = [from, String(limit), String(parkedCharactersMax)]
    const reply = await this.#calls.answer((redis) =>
      redis.parkedEvents(this.#keys.active, checkpoints, parked, parkedOffsets, ...args),
    )
    if (reply === null) return undefined
    const [active, fields, last, found] = reply
    return {
      moment: storedState(active, fields).moment,
      events: pairs(found).map(([field, text]) => decodeParkedAt(field, text)),
      next: last === '' ? undefined : last,
    }
  }

  async parkedAt(generation: string, { partition, offset }: Place): Promise<ParkedThere | undefined> {
    const { checkpoints, parked } = this.#keys.generation(generation)
    const field = parkedField(partition, offset)
    const reply = await this.#calls.answer((redis) => redis.parkedEvent(this.#keys.active, checkpoints, parked, field))
    if (reply === null) return undefined
    const [active, fields, text] = reply
    return {
      moment: storedState(active, fields).moment,
      event: text === null ? undefined : decodeParkedAt(field, text),
    }
  }
}

function sizeOf({ added }: StoredState, index: string | undefined, held: string | number | undefined): Size {
  return { held: Number(held), added: added.get(addedField(index)) ?? 0 }
}
