import { type Claim, checkToken, judge, nameOf, recordsFor, tokenFloor } from './answers.ts'
import {
  type Contradiction,
  contradiction,
  type Exchange,
  type History,
  isOfService,
  isSuccess,
  outcomeOf,
} from './history.ts'
import { collectionOf, isOf, isWrite, keyOf } from './operations.ts'
import type { Effective, Prefixes, State } from './prefixes.ts'
import { documentOf, newDocumentIn } from './service.ts'
import { membersOf, textOf } from './values.ts'

/**
 * A write that was confirmed has one effect, which was in the log by then, and was answered with it. Each effect is what
 * its write wanted, answered or not. `isWhole`: the history has all writes of the service, so an effect without one is of
 * nobody.
 */
export function* checkWrites({ exchanges }: History, prefixes: Prefixes, isWhole: boolean): Generator<Contradiction> {
  const writes = exchanges.filter(isWrite)
  const byNumber = new Map(writes.map((exchange) => [exchange.number, exchange]))
  const names = new Set(writes.map(({ wanted }) => nameIn(wanted)))
  yield* checkWanted(prefixes, byNumber, isWhole)
  const effects = Map.groupBy(prefixes.effects, ({ request }) => {
    const write = byNumber.get(request ?? Number.NaN)
    return write && outcomeOf(write)
  })
  for (const exchange of writes.filter(isSuccess)) {
    const own = effects.get(outcomeOf(exchange)) ?? []
    if (isOf(exchange, 'remove')) yield* checkRemoved(exchange, own, prefixes)
    else if (isOf(exchange, 'update')) yield* checkUpdated(exchange, own, prefixes)
    else yield* checkCreated(exchange, own, prefixes)
  }
  yield* checkDoubled([...effects].filter(([outcome]) => outcome !== undefined).map(([, effective]) => effective))
  const named = Map.groupBy(prefixes.effects, (effect) => nameIn(newDocumentIn(effect)))
  yield* checkDoubled(
    [...named].filter(([name]) => name !== undefined && names.has(name)).map(([, effective]) => effective),
  )
}

function* checkWanted(
  { effects, service }: Prefixes,
  writes: ReadonlyMap<number, Exchange>,
  isWhole: boolean,
): Generator<Contradiction> {
  for (const effect of effects) {
    const { type, request, record } = effect
    const write = writes.get(request ?? Number.NaN)
    if (write === undefined ? !isWhole || !isOfService(record) : isWantedBy(write, effect, service)) continue
    const event = `${type} at ${record.partition}:${record.offset}`
    const what = write === undefined ? `No request wanted ${event}.` : `${event} is not what ${nameOf(write)} wanted.`
    const rule = write === undefined ? 'nobody asked for it' : 'not what was asked for'
    yield contradiction(rule, what, write === undefined ? [] : [write], [record])
  }
}

function isWantedBy(write: Exchange, effect: Effective, service: Prefixes['service']): boolean {
  if (isOf(write, 'update', 'remove')) return service.isChange(write, effect)
  return effect.drawn?.collection === collectionOf(write.operation) && service.isNew(write, newDocumentIn(effect))
}

/** What is unique of a document that is added. */
function nameIn(document: unknown): unknown {
  const { name, title } = membersOf(document)
  return name ?? title
}

function* checkCreated(
  exchange: Exchange,
  effects: readonly Effective[],
  prefixes: Prefixes,
): Generator<Contradiction> {
  const collection = collectionOf(exchange.operation)
  const { id } = membersOf(exchange.body)
  const creating = effects.filter(({ drawn }) => drawn?.collection === collection)
  const isTold = ({ drawn }: Effective) => drawn?.collection === collection && drawn.id === id
  const effect = creating.find(isTold) ?? creating[0] ?? forgottenEffect(exchange, isTold, prefixes)
  if (effect === undefined) {
    if (!isTakenByOther(exchange, prefixes)) yield lost(exchange, prefixes)
    return
  }
  const isOfOther = !exchange.isReplayed && effect.request !== exchange.number
  if (isOfOther) yield untrue(exchange, effect, 'is not said to be replayed, but is of another request')
  else if (!prefixes.service.isNew(exchange, exchange.body)) yield untrue(exchange, effect, 'is not what was asked for')
  else yield* checkEffect(exchange, effect, prefixes)
}

/** What a replayed answer tells of a request that is forgotten, since it came before a loss. */
function forgottenEffect(
  { isReplayed }: Exchange,
  isTold: (effect: Effective) => boolean,
  prefixes: Prefixes,
): Effective | undefined {
  if (!isReplayed) return undefined
  return prefixes.effects.find((effect) => isTold(effect) && !prefixes.isOfHistory(effect.record))
}

/**
 * A pet or a category that was not to be read yet when it was added. A stranger who wrote to the log had taken its id; or, before a loss
 * in which the log forgot who had the id, the service had (decision 0027).
 */
export function isTakenByOther(exchange: Exchange, prefixes: Prefixes): boolean {
  const { number, operation, body, isApplied } = exchange
  const [collection, id] = [collectionOf(operation), Number(membersOf(body).id)]
  const isWritten = prefixes.recordsOf(number).some(({ key }) => key === keyOf(collection, id))
  const [taken] = prefixes.document(collection, id).states
  return (
    isApplied === false &&
    isWritten &&
    prefixes.service.isNew(exchange, body) &&
    taken !== undefined &&
    !prefixes.isOfHistory(taken.record)
  )
}

function* checkEffect(exchange: Exchange, effect: Effective, prefixes: Prefixes): Generator<Contradiction> {
  const { operation, body } = exchange
  const document = documentOf(effect, collectionOf(operation), Number(membersOf(body).id))
  if (document === undefined || textOf(document) !== textOf(body)) {
    yield untrue(exchange, effect, 'differs from the effect of its event')
  }
  yield* checkConfirmed(exchange, effect, prefixes)
}

function* checkConfirmed(exchange: Exchange, effect: Effective, prefixes: Prefixes): Generator<Contradiction> {
  const { partition, offset } = effect.record
  if (effect.since > prefixes.largestAt(partition, exchange.answeredMs)) {
    const what = `${nameOf(exchange)} was confirmed before its event was in the log.`
    yield contradiction('confirmed too early', what, [exchange], prefixes.recordsAround(partition, offset))
  }
  yield* checkToken(exchange, [[partition, offset]], prefixes)
}

function* checkUpdated(
  exchange: Exchange,
  [effect]: readonly Effective[],
  prefixes: Prefixes,
): Generator<Contradiction> {
  const { operation, body, id = 0, wanted } = exchange
  const isOther = membersOf(body).id !== id || !prefixes.service.isSo(wanted, body)
  if (isOther) yield untrue(exchange, effect, 'is not what was asked for')
  else if (effect === undefined) {
    // It was so already.
    const text = textOf(body)
    const document = prefixes.document(collectionOf(operation), id)
    yield* checkUnchanged(exchange, { document, holds: (state) => state?.text === text }, prefixes)
  } else yield* checkEffect(exchange, effect, prefixes)
}

/** Removed now, or before: then nothing is appended. */
function* checkRemoved(
  exchange: Exchange,
  [effect]: readonly Effective[],
  prefixes: Prefixes,
): Generator<Contradiction> {
  if (effect !== undefined) return yield* checkConfirmed(exchange, effect, prefixes)
  const isGone = (state?: State) => state?.isRemoved === true
  const document = prefixes.document(collectionOf(exchange.operation), exchange.id ?? 0)
  yield* checkUnchanged(exchange, { document, holds: isGone, holdsOfAll: isGone }, prefixes)
}

/** What was asked for was so in a prefix that the token of the request allows. */
function* checkUnchanged(exchange: Exchange, claim: Claim, prefixes: Prefixes): Generator<Contradiction> {
  const { partition } = claim.document
  const floor = tokenFloor(exchange.token, partition)
  const { n, flaw } = judge([claim], floor, prefixes.largestAt(partition, exchange.answeredMs))
  if (n !== undefined) yield* checkToken(exchange, [[partition, n - 1]], prefixes)
  else if (flaw === 'impossible') yield lost(exchange, prefixes)
  else yield { ...untrue(exchange, undefined, `is ${flaw}`), records: recordsFor(prefixes, [claim], floor) }
}

function* checkDoubled(outcomes: readonly (readonly Effective[])[]): Generator<Contradiction> {
  for (const effects of outcomes.filter(({ length }) => length > 1)) {
    const events = effects.map(({ type, record: { partition, offset } }) => `${type} at ${partition}:${offset}`)
    const records = effects.slice(0, 5).map(({ record }) => record)
    const what = `One request, key or name has the effects ${events.join(', ')}.`
    yield contradiction('doubled write', what, [], records)
  }
}

function lost(exchange: Exchange, prefixes: Prefixes): Contradiction {
  const what = `${nameOf(exchange)} was confirmed, but its event is not in the log, or took no effect.`
  return contradiction('lost write', what, [exchange], prefixes.recordsOf(exchange.number).slice(0, 5))
}

function untrue(exchange: Exchange, effect: Effective | undefined, how: string): Contradiction {
  const what = `The body of ${nameOf(exchange)} ${how}.`
  return contradiction('untrue answer', what, [exchange], effect === undefined ? [] : [effect.record])
}
