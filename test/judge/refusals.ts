import { type Claim, checkToken, judge, nameOf, recordsFor, tokenFloor } from './answers.ts'
import type { Floors } from './floors.ts'
import {
  type Contradiction,
  codesThatMayHaveEffect,
  contradiction,
  type Exchange,
  type History,
  isSuccess,
  type LogRecord,
  outcomeOf,
  streamOf,
} from './history.ts'
import { collectionOf, isOf, isWrite } from './operations.ts'
import { isAbsent } from './pages.ts'
import type { Prefixes, State } from './prefixes.ts'
import { textOf } from './values.ts'

/** What was refused has no effect, and what is said of its event or its key is so. */
export function* checkRefusals({ exchanges }: History, prefixes: Prefixes): Generator<Contradiction> {
  const effects = Map.groupBy(prefixes.effects, ({ request }) => request)
  const attempts = Map.groupBy(exchanges, outcomeOf)
  for (const exchange of exchanges) {
    const { number, status, code = '' } = exchange
    if (status === undefined || isSuccess(exchange)) continue
    if (code === 'internal_error') yield refusal(exchange, 'internal error', 'is a bug of the service')
    const effective = codesThatMayHaveEffect.has(code) ? [] : (effects.get(number) ?? [])
    if (effective.length > 0) {
      const records = effective.slice(0, 5).map(({ record }) => record)
      yield refusal(exchange, 'refused, but in the log', 'was refused, but its event took effect', records)
    }
    const ofKey = attempts.get(outcomeOf(exchange)) ?? []
    if (
      code === 'event_parked' &&
      !ofKey.some((each) => recordsOf(each).some((record) => prefixes.wasParked(record)))
    ) {
      yield refusal(exchange, 'impossible refusal', 'has no parked event, nor has its key')
    }
    const isReused = (other: Exchange) => textOf(other.wanted) !== textOf(exchange.wanted) && hasDecided(other)
    if (code === 'idempotency_key_reused' && !ofKey.some(isReused)) {
      yield refusal(exchange, 'impossible refusal', 'has a key that no other request has used')
    }
  }

  function recordsOf({ number }: Exchange): readonly LogRecord[] {
    return prefixes.recordsOf(number)
  }
  function hasDecided(exchange: Exchange): boolean {
    return effects.has(exchange.number) || recordsOf(exchange).some((record) => prefixes.wasParked(record))
  }
}

/** Whether it is a command that was refused for what the read models show. */
export function isReasoned(exchange: Exchange, { service }: Prefixes): boolean {
  const { code = '' } = exchange
  const isKnown = code.endsWith('_not_found') || commonReasons.has(code) || Object.hasOwn(service.reasons, code)
  return isWrite(exchange) && isKnown
}

const commonReasons: ReadonlySet<string> = new Set(['precondition_failed', 'stream_parked'])

/** A command is decided on a prefix that its token allows, and that is not below what it had to know when it was sent. */
export function* checkReason(exchange: Exchange, prefixes: Prefixes, floors: Floors): Generator<Contradiction> {
  const claim = reasonOf(exchange, prefixes)
  if (claim === undefined) return
  const { partition } = claim.document
  const ofToken = tokenFloor(exchange.token, partition)
  const { n: shown, by } = floors.of(exchange, partition)
  const floor = Math.max(ofToken, shown)
  floors.answered(exchange)
  if (exchange.code?.endsWith('_not_found') && exchange.token !== undefined) yield* checkToken(exchange, [], prefixes)
  const { flaw } = judge([claim], floor, prefixes.largestAt(partition, exchange.answeredMs))
  if (flaw === undefined) return
  const rule = flaw === 'of the future' ? 'refusal of the future' : `${flaw} refusal`
  const what = `${nameOf(exchange)} has no reason in partition ${partition} from the prefix ${floor} on.`
  const exchanges = by !== undefined && shown > ofToken ? [by, exchange] : [exchange]
  yield contradiction(rule, what, exchanges, recordsFor(prefixes, [claim], floor))
}

function reasonOf(exchange: Exchange, prefixes: Prefixes): Claim | undefined {
  const { code, id = 0, cached, operation } = exchange
  const collection = collectionOf(operation)
  if (code?.endsWith('_not_found') && isOf(exchange, 'remove')) {
    const neverWas = (state?: State) => state === undefined
    return { document: prefixes.document(collection, id), holds: neverWas, holdsOfAll: neverWas }
  }
  if (code?.endsWith('_not_found')) return isAbsent(prefixes.document(collection, id))
  if (code === 'precondition_failed') {
    const text = textOf(cached?.body)
    const holds = (state?: State) => cached !== undefined && state !== undefined && state.text !== text
    return { document: prefixes.document(collection, id), holds }
  }
  if (code === 'stream_parked') {
    const [placed] = prefixes.document(collection, id).states
    const stream = isOf(exchange, 'update') ? String(placed?.record.key) : streamOf(exchange)
    return { document: prefixes.ofStream('parked', stream), holds: (state) => state?.status === 'parked' }
  }
  return prefixes.service.reasons[code ?? '']?.(exchange, prefixes)
}

function refusal(exchange: Exchange, rule: string, what: string, records: readonly LogRecord[] = []): Contradiction {
  return contradiction(rule, `${nameOf(exchange)} ${what}.`, [exchange], records)
}
