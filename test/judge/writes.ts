import { type Claim, checkToken, judge, membersOf, nameOf, recordsFor, tokenFloor } from './answers.ts'
import {
  type Contradiction,
  contradiction,
  type Exchange,
  type History,
  isOfService,
  isSuccess,
  outcomeOf,
} from './history.ts'
import { isCreation } from './identities.ts'
import { type Effective, type Prefixes, type State, textOf } from './prefixes.ts'

/**
 * A write that was confirmed has one effect, which was in the log by then, and was answered with it. Each effect is what
 * its write wanted, answered or not. `isWhole`: the history has all writes of the service, so an effect without one is of
 * nobody.
 */
export function* checkWrites({ exchanges }: History, prefixes: Prefixes, isWhole: boolean): Generator<Contradiction> {
  const writes = exchanges.filter(({ operation }) => !/^(get|list|follow)/.test(operation))
  const byNumber = new Map(writes.map((exchange) => [exchange.number, exchange]))
  const names = new Set(writes.map(({ wanted }) => wanted?.name))
  yield* checkWanted(prefixes.effects, byNumber, isWhole)
  const effects = Map.groupBy(prefixes.effects, ({ request }) => {
    const write = byNumber.get(request ?? Number.NaN)
    return write && outcomeOf(write)
  })
  for (const exchange of writes.filter(isSuccess)) {
    const own = effects.get(outcomeOf(exchange)) ?? []
    if (exchange.operation === 'removePet') yield* checkRemoved(exchange, own, prefixes)
    else if (exchange.operation.startsWith('update')) yield* checkUpdated(exchange, own, prefixes)
    else yield* checkCreated(exchange, own, prefixes)
  }
  yield* checkDoubled([...effects].filter(([outcome]) => outcome !== undefined).map(([, effective]) => effective))
  const named = Map.groupBy(prefixes.effects.filter(isOfNewPet), ({ pet }) => pet.name)
  yield* checkDoubled([...named].filter(([name]) => names.has(name)).map(([, effective]) => effective))
}

function* checkWanted(
  effects: readonly Effective[],
  writes: ReadonlyMap<number, Exchange>,
  isWhole: boolean,
): Generator<Contradiction> {
  for (const effect of effects) {
    const { type, request, record } = effect
    const write = writes.get(request ?? Number.NaN)
    if (write === undefined ? !isWhole || !isOfService(record) : isWantedBy(write, effect)) continue
    const event = `${type} at ${record.partition}:${record.offset}`
    const what = write === undefined ? `No request wanted ${event}.` : `${event} is not what ${nameOf(write)} wanted.`
    const rule = write === undefined ? 'nobody asked for it' : 'not what was asked for'
    yield contradiction(rule, what, write === undefined ? [] : [write], [record])
  }
}

function isWantedBy({ operation, id, wanted }: Exchange, { type, pet, order }: Effective): boolean {
  if (operation === 'createPet') {
    return isCreation(type) && textOf({ id: pet.id, status: 'available', ...wanted }) === textOf(pet)
  }
  if (operation === 'placeOrder') return type === placedType && pet.id === id
  if (operation === 'updatePet') return changedType.test(type) && pet.id === id && isOf(wanted, pet)
  if (operation === 'removePet') return type === removedType && pet.id === id
  return type === `petstore.Order${capitalized(wanted?.status ?? '')}.v1` && order?.id === id
}

/** Whether the members are as was asked for. */
function isOf(wanted: object = {}, document: unknown): boolean {
  return Object.entries(wanted).every(
    ([name, value]) => String(membersOf(document)[name]) === String(value ?? undefined),
  )
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

const [placedType, removedType] = ['petstore.OrderPlaced.v1', 'petstore.PetRemoved.v1']
const changedType = /^petstore\.PetChanged\.v\d+$/

function isOfNewPet({ type }: Effective): boolean {
  return isCreation(type)
}

function* checkCreated(
  exchange: Exchange,
  effects: readonly Effective[],
  prefixes: Prefixes,
): Generator<Contradiction> {
  const { body, operation } = exchange
  const creating = effects.filter((effect) =>
    operation === 'createPet' ? isOfNewPet(effect) : effect.type === placedType,
  )
  const isTold = (effect: Effective) => (effect.order ?? effect.pet).id === membersOf(body).id
  const effect = creating.find(isTold) ?? creating[0] ?? forgottenEffect(exchange, isTold, prefixes)
  if (effect === undefined) {
    if (!isTakenByOther(exchange, prefixes)) yield lost(exchange, prefixes)
    return
  }
  const isOfOther = !exchange.isReplayed && effect.request !== exchange.number
  if (isOfOther) yield untrue(exchange, effect, 'is not said to be replayed, but is of another request')
  else if (!isAsWanted(exchange)) yield untrue(exchange, effect, 'is not what was asked for')
  else yield* checkEffect(exchange, effect, prefixes)
}

/** What a replayed answer tells of a request that is forgotten, since it came before a loss. */
function forgottenEffect(
  { isReplayed, operation }: Exchange,
  isTold: (effect: Effective) => boolean,
  prefixes: Prefixes,
): Effective | undefined {
  if (!isReplayed) return undefined
  const isCreating = operation === 'createPet' ? isCreation : (type: string) => type === placedType
  return prefixes.effects.find(
    (effect) => isCreating(effect.type) && isTold(effect) && !prefixes.isOfHistory(effect.record),
  )
}

/**
 * A pet that was not to be read yet when it was added. A stranger who wrote to the log had taken its id; or, before a loss
 * in which the log forgot who had the id, the service had (decision 0027).
 */
export function isTakenByOther(exchange: Exchange, prefixes: Prefixes): boolean {
  const { number, body, isApplied } = exchange
  const { id } = membersOf(body)
  const isWritten = prefixes.recordsOf(number).some(({ key }) => key === String(id))
  const [taken] = prefixes.document('pets', Number(id)).states
  return (
    isApplied === false &&
    isWritten &&
    isAsWanted(exchange) &&
    taken !== undefined &&
    !prefixes.isOfHistory(taken.record)
  )
}

function isAsWanted({ operation, body, wanted, id }: Exchange): boolean {
  const members = membersOf(body)
  if (operation === 'createPet') return textOf({ id: members.id, status: 'available', ...wanted }) === textOf(body)
  return members.petId === id && members.status === 'placed' && members.placedAt === members.updatedAt
}

function* checkEffect(exchange: Exchange, effect: Effective, prefixes: Prefixes): Generator<Contradiction> {
  if (textOf(effect.order ?? effect.pet) !== textOf(exchange.body)) {
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
  const isOther = membersOf(body).id !== id || !isOf(wanted, body)
  if (isOther) yield untrue(exchange, effect, 'is not what was asked for')
  else if (effect === undefined) {
    // It was so already.
    const text = textOf(body)
    const document = prefixes.document(operation === 'updatePet' ? 'pets' : 'orders', id)
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
  const document = prefixes.document('pets', exchange.id ?? 0)
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
