import { ServiceError } from '../../lib/errors.ts'
import { eventTagLength } from '../event-tag.ts'
import type { RangeAnswer, RangeQuery } from '../read-models.ts'
import { addedField, type RedisKeys } from './redis-keys.ts'
import { type StoredState, storedState } from './stored-state.ts'

/** What `read-ranges.lua` returns. */
export type RangesReply = [state: string, ranges: string, ...members: string[]]
type Call = (keys: string[], args: [tagLength: number, ranges: string]) => Promise<RangesReply>

interface Asked {
  /** Milliseconds, by performance.now. */
  readonly at: number
  readonly generation: string
  readonly query: RangeQuery
  readonly resolve: (answer: RangeAnswer) => void
  readonly reject: (error: unknown) => void
}

/** Of one call; the server does nothing else meanwhile. */
const rangesMax = 16
/** So that the server reads for one while this process works on the answers of another. */
const callsMax = 4
/** With the time limit of a call, of half a second, less than the second in which a range is to settle. */
const waitMaxMs = 400
/** Of the parts of the state, as in the script: no JSON text contains it. */
const separator = '\0'

/**
 * Reads ranges in groups: those asked for in one turn of the event loop, or while calls are under way, share the next
 * call. The cost of a call, and of the proof that comes with it, is shared by all in it (decision 0011).
 */
export class RangeReader {
  readonly #keys: RedisKeys
  readonly #call: Call
  #waiting: Asked[] = []
  #calls = 0
  #scheduled = false
  #state = ''
  #stored: StoredState = storedState('', [])

  constructor(keys: RedisKeys, call: Call) {
    this.#keys = keys
    this.#call = call
  }

  read(generation: string, query: RangeQuery): Promise<RangeAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ at: performance.now(), generation, query, resolve, reject })
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
    const enough = this.#calls === 0 ? 1 : rangesMax
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

  /** Of one generation: another one has other checkpoints. */
  #take(): Asked[] {
    const generation = this.#waiting[0]?.generation
    const other = this.#waiting.findIndex((asked) => asked.generation !== generation)
    return this.#waiting.splice(0, Math.min(other === -1 ? this.#waiting.length : other, rangesMax))
  }

  async #ask(group: readonly Asked[]): Promise<() => void> {
    const keys = this.#keys.generation(group[0]?.generation ?? '')
    const sets = new Map<string | undefined, number>([[undefined, 1]])
    const setKeys = [this.#keys.active, keys.checkpoints, keys.documents]
    let ranges = ''
    for (const { query } of group) {
      const { index, from, to = '+inf', limit } = query
      if (!sets.has(index)) {
        setKeys.push(keys.index(index ?? ''))
        sets.set(index, sets.size + 1)
      }
      ranges += `${sets.get(index)} ${from} ${to} ${limit} `
    }
    try {
      const reply = await this.#call(setKeys, [eventTagLength, ranges])
      return () => this.#answer(group, reply)
    } catch (error) {
      // Those waiting would only be told the same, later.
      const failed = [...group, ...this.#waiting.splice(0)]
      return () => {
        for (const { reject } of failed) reject(error)
      }
    }
  }

  #answer(group: readonly Asked[], [state, ranges, ...members]: RangesReply): void {
    // While nothing is written, all answers share one moment, and nothing is decoded anew.
    if (state !== this.#state) {
      const [active = '', ...fields] = state.split(separator)
      this.#stored = storedState(active, fields)
      this.#state = state
    }
    const { moment, added } = this.#stored
    const numbers = ranges.split(' ')
    for (let i = 0; i < group.length; i++) {
      const { query, resolve } = group[i] as Asked
      const last = numbers[i * 3 + 1]
      resolve({
        documents: members[i] ?? '',
        count: Number(numbers[i * 3]),
        last: last === '-' ? undefined : Number(last),
        moment,
        held: Number(numbers[i * 3 + 2]),
        added: added.get(addedField(query.index)) ?? 0,
      })
    }
  }
}
