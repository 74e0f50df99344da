import { ServiceError } from '../../lib/errors/errors.ts'
import { FairQueue } from '../../lib/fair-queue.ts'
import type { Proof } from '../ports/reads.ts'
import type { Replies } from './redis-calls.ts'
import type { RedisKeys } from './redis-keys.ts'
import { decodeSnapshot } from './stored.ts'

/** One lookup that `read.lua` makes in a set. */
export interface SetLookup {
  readonly what: 'member' | 'page' | 'any' | 'field' | 'owner' | 'range' | 'entry' | 'count' | 'size'
  readonly set: string
  /** The id of a document, the id after which a page begins, or the first id; or a field. 0 for what needs none. */
  readonly of: number | string
  /** Size of a page, or the last id; of an entry the id after it. */
  readonly limit?: number
  /**
   * What stands before an id in the name of a stream: of those in a set of texts, or of an owner. In a keyed set, what
   * entries may begin with (`beginnings`); to count them, one beginning alone.
   */
  readonly prefix?: string
}

export interface Answer {
  readonly proof: Proof
  /** The result of each lookup, as `read.lua` returns it. */
  readonly found: readonly (string | null)[]
}

/** Makes all lookups at one moment. Where many wait, owners of API keys take turns; what has no owner counts as one. */
export type GroupReader = (generation: string, lookups: readonly SetLookup[], owner?: string) => Promise<Answer>

type Call = (keys: string[], args: string[]) => Promise<Replies['read']>

interface Asked {
  /** Milliseconds, by performance.now. */
  readonly at: number
  readonly generation: string
  readonly lookups: readonly SetLookup[]
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Reads per call; the server does nothing else during a call. */
const readsMax = 16
/** Calls in flight, so that the server works on one while this process handles the answers of another. */
const callsMax = 4
/** With the time limit of a call, half a second, this stays below the second within which a read must settle. */
const waitMaxMs = 400

/**
 * Reads in groups: the reads requested in one turn of the event loop, or while calls are in flight, share the next
 * call, with its cost and the cost of its proof (decision 0011).
 */
export function groupReader(storeKeys: RedisKeys, call: Call): GroupReader {
  const waiting = new FairQueue<Asked>()
  let callsUnderWay = 0
  let isScheduled = false
  let lastState = ''
  let snapshot = decodeSnapshot('', [])

  /**
   * Starts one call at a time: calls that start together would make server and client take turns instead of working at
   * the same time. While a call is in flight, the next one leaves when it is full.
   */
  function start(): void {
    refuseLate()
    const enough = callsUnderWay === 0 ? 1 : readsMax
    if (waiting.size < enough || callsUnderWay >= callsMax) return
    for (const [generation, group] of Map.groupBy(nextReads(), (asked) => asked.generation)) void run(generation, group)
  }

  function refuseLate(): void {
    const earliest = performance.now() - waitMaxMs
    for (const { reject } of waiting.removeFirst(({ at }) => at < earliest))
      reject(new ServiceError('read_model_unavailable', 'The read models answer too slowly.'))
  }

  function nextReads(): Asked[] {
    const reads: Asked[] = []
    for (let next = waiting.take(); next !== undefined; next = waiting.take()) {
      reads.push(next.item)
      if (reads.length === readsMax) break
    }
    return reads
  }

  /** All of it about one generation: another one has other checkpoints. */
  async function run(generation: string, group: readonly Asked[]): Promise<void> {
    const lookups = group.flatMap((asked) => asked.lookups)
    const { sets, keys, args } = readArguments(storeKeys, generation, lookups)
    callsUnderWay++
    const reply = await call(keys, args).catch((error) => {
      // The reads that wait would only fail the same way, later.
      for (const { reject } of [...group, ...waiting.removeFirst(() => true)]) reject(error)
    })
    callsUnderWay--
    start() // the next call leaves before the answers of this one are handled
    if (reply === undefined) return
    try {
      resolveAll(group, sets, reply)
    } catch (error) {
      for (const { reject } of group) reject(error) // what is stored cannot be decoded
    }
  }

  function resolveAll(group: readonly Asked[], sets: readonly string[], reply: Replies['read']): void {
    const [state, completeness, ...found] = reply
    // While nothing is written, all answers share the checkpoints, and nothing is decoded again.
    if (state !== lastState) {
      const [active = '', ...fields] = state.split('\0')
      snapshot = decodeSnapshot(active, fields)
      lastState = state
    }
    const isWhole = ({ set }: SetLookup) => completeness[sets.indexOf(set)] === '1'
    let at = 0
    for (const { lookups, resolve } of group) {
      const proof = { ...snapshot, isComplete: lookups.every(isWhole) }
      resolve({ proof, found: found.slice(at, at + lookups.length) })
      at += lookups.length
    }
  }

  return (generation, lookups, owner = '') =>
    new Promise((resolve, reject) => {
      waiting.add(owner, { at: performance.now(), generation, lookups, resolve, reject })
      if (isScheduled || callsUnderWay >= callsMax) return
      isScheduled = true
      // After the poll phase of the event loop, so that all requests read in this turn share the call.
      setImmediate(() => {
        isScheduled = false
        start()
      })
    })
}

/** KEYS and ARGV of `read.lua`, and the sets that it reads. */
export function readArguments(storeKeys: RedisKeys, generation: string, lookups: readonly SetLookup[]) {
  const { checkpoints, sizes, set: keyOf } = storeKeys.generation(generation)
  const sets: string[] = []
  const texts: string[] = []
  let asked = ''
  for (const { what, set, of, limit = 0, prefix = '' } of lookups) {
    if (!sets.includes(set)) sets.push(set)
    const number = typeof of === 'number' ? of : texts.push(of)
    const before = prefix === '' ? 0 : texts.push(prefix)
    asked += `${what} ${sets.indexOf(set) + 1} ${number} ${limit} ${before} `
  }
  const names = sets.map((set) => `${set}\0`).join('')
  return { sets, keys: [storeKeys.active, checkpoints, sizes, ...sets.map(keyOf)], args: [names, asked, ...texts] }
}
