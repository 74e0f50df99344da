import type { Position } from '../../event-log/event-log.ts'
import { decodeIdempotencyRecord, type IdempotencyKey, type IdempotencyRecord } from '../idempotency-record.ts'
import {
  type Contents,
  type Entries,
  type InspectedPage,
  type Inspection,
  parkedCharactersMax,
  type Size,
  type Snapshot,
} from '../inspection.ts'
import type { ParkedEvent } from '../parked-event.ts'
import type { RedisCalls } from './redis-calls.ts'
import { isHash, keyField, keyOfField, type RedisKeys } from './redis-keys.ts'
import { decodeParkedEvent, parkedField } from './stored-parked-event.ts'
import { decodeSnapshot, pairs } from './stored-snapshot.ts'

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
    // The script is told the sets, and may find that there is one more by now.
    for (let fields = await this.#calls.sizedFields(keys); ; ) {
      const all = [this.#keys.active, keys.checkpoints, keys.sizes, ...fields.map(keys.sized)]
      const reply = await this.#calls.run(
        'contents',
        all,
        fields.map((field) => (isHash(field) ? 'h' : 'z')),
      )
      if (reply === null) return undefined
      const [active, checkpoints, recorded, actual] = reply
      const found = new Map(pairs(recorded).map(([field, size]) => [field, Number(size)]))
      if (found.size === fields.length) {
        const sizes = new Map<string, Size>()
        for (const [i, field] of fields.entries()) {
          sizes.set(field, { actual: Number(actual[i]), recorded: found.get(field) ?? 0 })
        }
        return { snapshot: decodeSnapshot(active, checkpoints), sizes: withOneOfParked(sizes) }
      }
      fields = [...found.keys()]
    }
  }

  async entries(generation: string, set: string, from: number, limit: number): Promise<Entries | undefined> {
    const { checkpoints, set: keyOf } = this.#keys.generation(generation)
    const reply = await this.#calls.run('entries', [this.#keys.active, checkpoints, keyOf(set)], [from, limit])
    if (reply === null) return undefined
    const [active, fields, members] = reply
    const entries = pairs(members).map(([text, id]) => ({ id: Number(id), text }))
    return { snapshot: decodeSnapshot(active, fields), entries }
  }

  rows(generation: string, from: string, limit: number): Promise<InspectedPage<readonly [string, string]> | undefined> {
    return this.#scan(generation, 'rows', from, limit, (stream, row) => [stream, row])
  }

  keys(generation: string, from: string, limit: number): Promise<InspectedPage<IdempotencyRecord> | undefined> {
    return this.#scan(generation, 'keys', from, limit, (field, record) =>
      decodeIdempotencyRecord(keyOfField(field), record),
    )
  }

  async parked(generation: string, from: string, limit: number): Promise<InspectedPage<ParkedEvent> | undefined> {
    const { checkpoints, parked, parkedQueue } = this.#keys.generation(generation)
    const reply = await this.#calls.run(
      'parkedEvents',
      [this.#keys.active, checkpoints, parked, parkedQueue],
      [from, limit, parkedCharactersMax],
    )
    if (reply === null) return undefined
    const [active, fields, last, found] = reply
    return {
      snapshot: decodeSnapshot(active, fields),
      items: pairs(found).map(([field, text]) => decodeParkedEvent(field, text)),
      next: last === '' ? undefined : last,
    }
  }

  async parkedAt(
    generation: string,
    position: Position,
  ): Promise<{ readonly snapshot: Snapshot; readonly event: ParkedEvent | undefined } | undefined> {
    const field = parkedField(position)
    const found = await this.#field(generation, 'parked', field, (text) => decodeParkedEvent(field, text))
    return found && { snapshot: found.snapshot, event: found.value }
  }

  async key(
    generation: string,
    key: IdempotencyKey,
  ): Promise<{ readonly snapshot: Snapshot; readonly record: IdempotencyRecord | undefined } | undefined> {
    const found = await this.#field(generation, 'keys', keyField(key), (text) => decodeIdempotencyRecord(key, text))
    return found && { snapshot: found.snapshot, record: found.value }
  }

  async row(
    generation: string,
    stream: string,
  ): Promise<{ readonly snapshot: Snapshot; readonly row: string | undefined } | undefined> {
    const found = await this.#field(generation, 'rows', stream, (text) => text)
    return found && { snapshot: found.snapshot, row: found.value }
  }

  async #scan<Item>(
    generation: string,
    hash: 'rows' | 'keys',
    from: string,
    limit: number,
    decode: (field: string, value: string) => Item,
  ): Promise<InspectedPage<Item> | undefined> {
    const { checkpoints, [hash]: key } = this.#keys.generation(generation)
    const reply = await this.#calls.run('scanHash', [this.#keys.active, checkpoints, key], [from || '0', limit])
    if (reply === null) return undefined
    const [active, fields, [next, found]] = reply
    return {
      snapshot: decodeSnapshot(active, fields),
      items: pairs(found).map(([field, value]) => decode(field, value)),
      next: next === '0' ? undefined : next,
    }
  }

  async #field<Item>(
    generation: string,
    hash: 'rows' | 'keys' | 'parked',
    field: string,
    decode: (value: string) => Item,
  ): Promise<{ readonly snapshot: Snapshot; readonly value: Item | undefined } | undefined> {
    const { checkpoints, [hash]: key } = this.#keys.generation(generation)
    const reply = await this.#calls.run('field', [this.#keys.active, checkpoints, key], [field])
    if (reply === null) return undefined
    const [active, fields, value] = reply
    return { snapshot: decodeSnapshot(active, fields), value: value === null ? undefined : decode(value) }
  }
}

/** What is parked is kept in three keys: the one that lost something speaks for all. */
function withOneOfParked(sizes: Map<string, Size>): Map<string, Size> {
  const fields = ['parked', 'parked-queue', 'parked-streams']
  const parked = fields.flatMap((field) => sizes.get(field) ?? [])
  for (const field of fields) sizes.delete(field)
  const shown = parked.find(({ actual, recorded }) => actual !== recorded) ?? parked[0]
  return shown === undefined ? sizes : sizes.set('parked', shown)
}
