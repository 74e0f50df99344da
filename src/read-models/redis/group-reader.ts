import { ServiceError } from '../../lib/errors.ts'
import type { Snapshot } from '../inspection.ts'
import type { Proof } from '../stored-reads.ts'
import type { RedisKeys } from './redis-keys.ts'
import type { Replies } from './redis-scripts.ts'
import { decodeSnapshot } from './stored-snapshot.ts'

/** One thing that `read.lua` looks up. `set`: its field of `sizes`. */
export type Look =
  | { readonly what: 'member'; readonly kind: 'collection'; readonly set: string; readonly id: number }
  | {
      readonly what: 'page'
      readonly kind: 'collection' | 'index'
      readonly set: string
      readonly after: number
      readonly limit: number
    }
  | FieldLook

export interface FieldLook {
  readonly what: 'field' | 'exists'
  readonly kind: 'hash'
  readonly set: string
  readonly field: string
}

export interface Answer {
  readonly proof: Proof
  /** For each look, as `read.lua` returns it. */
  readonly found: readonly (string | null)[]
}

type Call = (keys: string[], args: string[]) => Promise<Replies['read']>

interface Asked {
  /** Milliseconds, by performance.now. */
  readonly at: number
  readonly generation: string
  readonly looks: readonly Look[]
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Reads in one call; the server does nothing else meanwhile. */
const readsMax = 16
/** So that the server reads for one while this process works on the answers of another. */
const callsMax = 4
/** With the time limit of a call, of half a second, less than the second in which a read is to settle. */
const waitMaxMs = 400

/**
 * Reads in groups: those asked for in one turn of the event loop, or while calls are under way, share the next call. The
 * cost of a call, and of the proof that comes with it, is shared by all in it (decision 0011).
 */
export class GroupReader {
  readonly #keys: RedisKeys
  readonly #call: Call
  #waiting: Asked[] = []
  #calls = 0
  #scheduled = false
  #state = ''
  #snapshot: Snapshot = decodeSnapshot('', [])

  constructor(keys: RedisKeys, call: Call) {
    this.#keys = keys
    this.#call = call
  }

  read(generation: string, looks: readonly Look[]): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ at: performance.now(), generation, looks, resolve, reject })
      if (this.#scheduled || this.#calls === callsMax) return
      this.#scheduled = true
      // After the poll phase of the event loop, so that all requests read in this turn of it share the call.
      setImmediate(() => {
        this.#scheduled = false
        this.#start()
      })
    })
  }

  /**
   * One at a time: calls begun together would make server and client take turns instead of working at the same time. With
   * a call under way already, the next one leaves when it is full.
   */
  #start(): void {
    this.#refuseLate()
    const enough = this.#calls === 0 ? 1 : readsMax
    if (this.#waiting.length >= enough && this.#calls < callsMax) void this.#run(this.#take())
  }

  async #run(group: readonly Asked[]): Promise<void> {
    this.#calls++
    const settle = await this.#ask(group)
    this.#calls--
    this.#start() // the next is on its way before the answers of this one are worked on
    settle()
  }

  #refuseLate(): void {
    const earliest = performance.now() - waitMaxMs
    while ((this.#waiting[0]?.at ?? earliest) < earliest) {
      this.#waiting.shift()?.reject(new ServiceError('read_model_unavailable', 'The read models answer too slowly.'))
    }
  }

  /** All about one generation: another one has other checkpoints. */
  #take(): Asked[] {
    const generation = this.#waiting[0]?.generation
    const other = this.#waiting.findIndex((asked) => asked.generation !== generation)
    return this.#waiting.splice(0, Math.min(other === -1 ? this.#waiting.length : other, readsMax))
  }

  async #ask(group: readonly Asked[]): Promise<() => void> {
    const { places, keys, args } = callFor(this.#keys, group)
    try {
      const reply = await this.#call(keys, args)
      return () => this.#answer(group, places, reply)
    } catch (error) {
      // Those waiting would only be told the same, later.
      const failed = [...group, ...this.#waiting.splice(0)]
      return () => {
        for (const { reject } of failed) reject(error)
      }
    }
  }

  #answer(
    group: readonly Asked[],
    places: ReadonlyMap<string, number>,
    [state, completeness, ...found]: Replies['read'],
  ): void {
    // While nothing is written, all answers share the checkpoints, and nothing is decoded anew.
    if (state !== this.#state) {
      const [active = '', ...fields] = state.split('\0')
      this.#snapshot = decodeSnapshot(active, fields)
      this.#state = state
    }
    const { active, checkpoints } = this.#snapshot
    const isWhole = ({ set }: Look) => completeness[(places.get(set) ?? 0) - 1] === '1'
    let at = 0
    for (const { looks, resolve } of group) {
      const proof = { active, checkpoints, isComplete: looks.every(isWhole) }
      resolve({ proof, found: found.slice(at, at + looks.length) })
      at += looks.length
    }
  }
}

/** KEYS and ARGV of `read.lua`, and which of its sets each is, from 1. */
function callFor(storeKeys: RedisKeys, group: readonly Asked[]) {
  const generation = storeKeys.generation(group[0]?.generation ?? '')
  const places = new Map<string, number>()
  const keys = [storeKeys.active, generation.checkpoints, generation.sizes]
  const fields: string[] = []
  let [sets, looks] = ['', '']
  function placeOf({ kind, set }: Look): number {
    const known = places.get(set)
    if (known !== undefined) return known
    keys.push(generation.sized(set))
    sets += `${kind[0]}${set}\0`
    places.set(set, places.size + 1)
    return places.size
  }
  for (const asked of group) {
    for (const look of asked.looks) {
      looks += `${look.what} ${placeOf(look)} `
      if (look.what === 'member') looks += `${look.id} 0 `
      else if (look.what === 'page') looks += `${look.after} ${look.limit} `
      else looks += `${fields.push(look.field)} 0 `
    }
  }
  return { places, keys, args: [sets, looks, ...fields] }
}
