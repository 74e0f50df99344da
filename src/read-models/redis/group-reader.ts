import { ServiceError } from '../../lib/errors.ts'
import type { Proof } from '../stored-reads.ts'
import type { Replies } from './redis-calls.ts'
import type { RedisKeys } from './redis-keys.ts'
import { decodeSnapshot } from './stored.ts'

/** One thing that `read.lua` looks up in a set. */
export interface Look {
  readonly what: 'member' | 'page' | 'field' | 'queued'
  readonly set: string
  /** The id of a document, or the one to begin behind; or a field or a stream. */
  readonly of: number | string
  /** Of a page. */
  readonly limit?: number
}

export interface Answer {
  readonly proof: Proof
  /** For each look, as `read.lua` returns it. */
  readonly found: readonly (string | null)[]
}

/** Reads all of the looks at one moment. */
export type GroupReader = (generation: string, looks: readonly Look[]) => Promise<Answer>

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
export function groupReader(storeKeys: RedisKeys, call: Call): GroupReader {
  const waiting: Asked[] = []
  let callsUnderWay = 0
  let isScheduled = false
  let lastState = ''
  let snapshot = decodeSnapshot('', [])

  /**
   * One at a time: calls begun together would make server and client take turns instead of working at the same time. With
   * a call under way already, the next one leaves when it is full.
   */
  function start(): void {
    refuseLate()
    const enough = callsUnderWay === 0 ? 1 : readsMax
    if (waiting.length >= enough && callsUnderWay < callsMax) void run(nextGroup())
  }

  function refuseLate(): void {
    const earliest = performance.now() - waitMaxMs
    while ((waiting[0]?.at ?? earliest) < earliest) {
      waiting.shift()?.reject(new ServiceError('read_model_unavailable', 'The read models answer too slowly.'))
    }
  }

  /** All about one generation: another one has other checkpoints. */
  function nextGroup(): Asked[] {
    const generation = waiting[0]?.generation
    const other = waiting.findIndex((asked) => asked.generation !== generation)
    return waiting.splice(0, Math.min(other === -1 ? waiting.length : other, readsMax))
  }

  async function run(group: readonly Asked[]): Promise<void> {
    const { sets, keys, args } = callFor(storeKeys, group)
    callsUnderWay++
    const reply = await call(keys, args).catch((error) => {
      // Those waiting would only be told the same, later.
      for (const { reject } of [...group, ...waiting.splice(0)]) reject(error)
    })
    callsUnderWay--
    start() // the next is on its way before the answers of this one are worked on
    if (reply !== undefined) resolveAll(group, sets, reply)
  }

  function resolveAll(group: readonly Asked[], sets: readonly string[], reply: Replies['read']): void {
    const [state, completeness, ...found] = reply
    // While nothing is written, all answers share the checkpoints, and nothing is decoded anew.
    if (state !== lastState) {
      const [active = '', ...fields] = state.split('\0')
      snapshot = decodeSnapshot(active, fields)
      lastState = state
    }
    const isWhole = ({ set }: Look) => completeness[sets.indexOf(set)] === '1'
    let at = 0
    for (const { looks, resolve } of group) {
      const proof = { ...snapshot, isComplete: looks.every(isWhole) }
      resolve({ proof, found: found.slice(at, at + looks.length) })
      at += looks.length
    }
  }

  return (generation, looks) =>
    new Promise((resolve, reject) => {
      waiting.push({ at: performance.now(), generation, looks, resolve, reject })
      if (isScheduled || callsUnderWay === callsMax) return
      isScheduled = true
      // After the poll phase of the event loop, so that all requests read in this turn of it share the call.
      setImmediate(() => {
        isScheduled = false
        start()
      })
    })
}

/** KEYS and ARGV of `read.lua`, and the sets that it looks into. */
function callFor(storeKeys: RedisKeys, group: readonly Asked[]) {
  const { checkpoints, sizes, set: keyOf } = storeKeys.generation(group[0]?.generation ?? '')
  const sets: string[] = []
  const texts: string[] = []
  let looks = ''
  for (const { what, set, of, limit = 0 } of group.flatMap((asked) => asked.looks)) {
    if (!sets.includes(set)) sets.push(set)
    const number = typeof of === 'number' ? of : texts.push(of)
    looks += `${what} ${sets.indexOf(set) + 1} ${number} ${limit} `
  }
  const names = sets.map((set) => `${set}\0`).join('')
  return { sets, keys: [storeKeys.active, checkpoints, sizes, ...sets.map(keyOf)], args: [names, looks, ...texts] }
}
