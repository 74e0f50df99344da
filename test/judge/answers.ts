import { type Contradiction, contradiction, type Exchange, type LogRecord, positionsOf } from './history.ts'
import type { DocumentHistory, Prefixes, State } from './prefixes.ts'

/** What an answer says of one document. */
export interface Claim {
  readonly document: DocumentHistory
  /** A document that is removed is none. */
  readonly holds: (state: State | undefined) => boolean
  /** Replaces `holds` where it makes a difference that there was one. */
  readonly holdsOfAll?: (state: State | undefined) => boolean
}

/** A prefix below which an answer is stale, and why. */
export interface Floor {
  readonly n: number
  /** The earlier answer; undefined: the token. */
  readonly by?: Exchange
}

/** Either the smallest prefix that an answer can come from, or what is wrong with it. */
export type Verdict =
  | { readonly n: number; readonly flaw?: never }
  | { readonly flaw: 'stale' | 'impossible' | 'of the future'; readonly n?: never }

/** The first prefix from here on at which all claims hold; undefined if there is none. */
export function firstPrefix(claims: readonly Claim[], from: number): number | undefined {
  let n = from
  let held = 0
  for (let at = 0; held < claims.length; at = (at + 1) % claims.length) {
    const next = nextWhere(claims[at] as Claim, n)
    if (next === undefined) return undefined
    held = next === n ? held + 1 : 1
    n = next
  }
  return n
}

export function holdsAt(claims: readonly Claim[], n: number): boolean {
  return claims.every((claim) => nextWhere(claim, n) === n)
}

function nextWhere({ document: { states }, holds: ofPresent, holdsOfAll }: Claim, n: number): number | undefined {
  const holds = holdsOfAll ?? ((state?: State) => ofPresent(state?.isRemoved ? undefined : state))
  const at = states.findLastIndex(({ since }) => since <= n)
  if (holds(states[at])) return n
  for (let index = at + 1; index < states.length; index++) {
    const state = states[index]
    if (state !== undefined && holds(state)) return state.since
  }
  return undefined
}

/** `largest`: the answer cannot show more, since it was not asked for yet. */
export function judge(claims: readonly Claim[], floor: number, largest: number): Verdict {
  const n = firstPrefix(claims, floor)
  if (n !== undefined && n <= largest) return { n }
  const any = floor === 0 ? n : firstPrefix(claims, 0)
  if (any === undefined) return { flaw: 'impossible' }
  return { flaw: any > largest ? 'of the future' : 'stale' }
}

/** The floor of each partition that a token names. */
export function tokenFloor(token: string | undefined, partition: number): number {
  return (positionsOf(token).get(partition) ?? -1) + 1
}

/** The records that say most about why claims do not hold: those of a document that alone contradicts them, if any. */
export function recordsFor(prefixes: Prefixes, claims: readonly Claim[], floor: number): readonly LogRecord[] {
  const broken = claims.find((claim) => nextWhere(claim, floor) === undefined) ?? claims[0]
  const states = broken?.document.states ?? []
  if (states.length > 0) return states.slice(-5).map(({ record }) => record)
  return prefixes.recordsAround(broken?.document.partition ?? 0, floor)
}

/** Checks that the token of an answer covers the one that was sent and these offsets of partitions. */
export function* checkToken(
  exchange: Exchange,
  told: readonly (readonly [number, number])[],
  prefixes: Prefixes,
): Generator<Contradiction> {
  const { token, tokenAfter } = exchange
  const after = positionsOf(tokenAfter)
  const required = [...positionsOf(token), ...told]
  const missed = required.find(([partition, offset]) => (after.get(partition) ?? -1) < offset)
  if (tokenAfter !== undefined && missed === undefined) return
  const [partition = 0, offset = 0] = missed ?? required[0] ?? []
  const has = tokenAfter === undefined ? 'no token' : `a token up to ${after.get(partition) ?? 'nothing'}`
  const what = `${nameOf(exchange)} has ${has} of partition ${partition}, where ${offset} was sent or told.`
  const records = prefixes.recordsAround(partition, offset)
  yield contradiction('token does not cover what was told', what, [exchange], records)
}

/** The exchange in the sentences of contradictions. */
export function nameOf({ number, operation, id, status, code, instance }: Exchange): string {
  const words = [operation, id, status, code, instance && `by ${instance}`]
  return `#${number} ${words.filter((word) => word !== undefined).join(' ')}`
}
