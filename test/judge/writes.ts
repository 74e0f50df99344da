import { checkToken, judge, membersOf, nameOf, recordsFor, tokenFloor } from './answers.ts'
import { type Contradiction, contradiction, type Exchange, type History, isSuccess } from './history.ts'
import { type Effective, type Prefixes, textOf } from './prefixes.ts'

/**
 * A write that was confirmed has one effect, and was answered with it. Each effect is what its write wanted, answered or
 * not. `isWhole`: the history has all writes of the log, so an effect without one is of nobody.
 */
export function* checkWrites({ exchanges }: History, prefixes: Prefixes, isWhole: boolean): Generator<Contradiction> {
  const writes = exchanges.filter(({ operation }) => !/^(get|list|follow)/.test(operation))
  const byNumber = new Map(writes.map((exchange) => [exchange.number, exchange]))
  const names = new Set(writes.map(({ wanted }) => wanted?.name))
  yield* checkWanted(prefixes.effects, byNumber, isWhole)
  const effects = Map.groupBy(prefixes.effects, ({ request }) => outcomeOf(byNumber.get(request ?? Number.NaN)))
  for (const exchange of writes.filter(isSuccess)) {
    const own = effects.get(outcomeOf(exchange)) ?? []
    if (exchange.operation === 'updateOrder') yield* checkUpdated(exchange, own, prefixes)
    else yield* checkCreated(exchange, own, prefixes)
  }
  const created = writes.filter((exchange) => isSuccess(exchange) && exchange.operation !== 'updateOrder')
  yield* checkKeys(created)
  yield* checkIds(created)
  yield* checkDoubled([...effects].filter(([outcome]) => outcome !== undefined).map(([, effective]) => effective))
  const named = Map.groupBy(prefixes.effects.filter(isOfNewPet), ({ pet }) => pet.name)
  yield* checkDoubled([...named].filter(([name]) => names.has(name)).map(([, effective]) => effective))
}

/** What requests have in common that are allowed one effect together. */
function outcomeOf(exchange: Exchange | undefined): string | undefined {
  if (exchange?.idempotencyKey === undefined) return exchange && `request ${exchange.number}`
  const { operation, idempotencyKey, id } = exchange
  return `${operation} ${operation === 'placeOrder' ? id : ''} ${idempotencyKey}`
}

function* checkWanted(
  effects: readonly Effective[],
  writes: ReadonlyMap<number, Exchange>,
  isWhole: boolean,
): Generator<Contradiction> {
  for (const effect of effects) {
    const { type, request, record } = effect
    const write = writes.get(request ?? Number.NaN)
    if (write === undefined ? !isWhole : isWantedBy(write, effect)) continue
    const event = `${type} at ${record.partition}:${record.offset}`
    const what = write === undefined ? `No request wanted ${event}.` : `${event} is not what ${nameOf(write)} wanted.`
    const rule = write === undefined ? 'nobody asked for it' : 'not what was asked for'
    yield contradiction(rule, what, write === undefined ? [] : [write], [record])
  }
}

function isWantedBy({ operation, id, wanted }: Exchange, { type, pet, order }: Effective): boolean {
  if (operation === 'createPet') {
    return type === createdType && textOf({ id: pet.id, status: 'available', ...wanted }) === textOf(pet)
  }
  if (operation === 'placeOrder') return type === placedType && pet.id === id
  return type === `petstore.Order${capitalized(wanted?.status ?? '')}.v1` && order?.id === id
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

const [createdType, placedType] = ['petstore.PetCreated.v1', 'petstore.OrderPlaced.v1']

function isOfNewPet({ type }: Effective): boolean {
  return type === createdType
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
  const effect = creating.find(isTold) ?? creating[0]
  if (effect === undefined) {
    yield lost(exchange, prefixes)
    return
  }
  const isOfOther = !exchange.isReplayed && effect.request !== exchange.number
  if (isOfOther) yield untrue(exchange, effect, 'is not said to be replayed, but is of another request')
  else if (!isAsWanted(exchange)) yield untrue(exchange, effect, 'is not what was asked for')
  else yield* checkBody(exchange, effect)
  yield* checkToken(exchange, [[effect.record.partition, effect.record.offset]], prefixes)
}

function isAsWanted({ operation, body, wanted, id }: Exchange): boolean {
  const members = membersOf(body)
  if (operation === 'createPet') return textOf({ id: members.id, status: 'available', ...wanted }) === textOf(body)
  return members.petId === id && members.status === 'placed' && members.placedAt === members.updatedAt
}

function* checkBody(exchange: Exchange, effect: Effective): Generator<Contradiction> {
  if (textOf(effect.order ?? effect.pet) !== textOf(exchange.body)) {
    yield untrue(exchange, effect, 'differs from the effect of its event')
  }
}

function* checkUpdated(
  exchange: Exchange,
  [effect]: readonly Effective[],
  prefixes: Prefixes,
): Generator<Contradiction> {
  const { body, id = 0, wanted, token, answeredMs } = exchange
  const { id: toldId, status } = membersOf(body)
  const isOther = toldId !== id || status !== wanted?.status
  if (isOther) yield untrue(exchange, effect, 'is not what was asked for')
  else if (effect === undefined) {
    // It had this status already.
    const text = textOf(body)
    const document = prefixes.document('orders', id)
    const { partition } = document
    const claims = [{ document, holds: (state?: { text: string }) => state?.text === text }]
    const floor = tokenFloor(token, partition)
    const { n, flaw } = judge(claims, floor, prefixes.largestAt(partition, answeredMs))
    if (n !== undefined) yield* checkToken(exchange, [[partition, n - 1]], prefixes)
    else if (flaw === 'impossible') yield lost(exchange, prefixes)
    else yield { ...untrue(exchange, effect, `is ${flaw}`), records: recordsFor(prefixes, claims, floor) }
  } else {
    yield* checkBody(exchange, effect)
    yield* checkToken(exchange, [[effect.record.partition, effect.record.offset]], prefixes)
  }
}

function* checkKeys(created: readonly Exchange[]): Generator<Contradiction> {
  for (const exchanges of Map.groupBy(created, outcomeOf).values()) {
    const [first] = exchanges
    const other = exchanges.find(({ body }) => JSON.stringify(body) !== JSON.stringify(first?.body))
    if (first === undefined || other === undefined) continue
    const what = `${nameOf(first)} and ${nameOf(other)} are of one key, and have different bodies.`
    yield contradiction('a key has two outcomes', what, [first, other])
  }
}

function* checkIds(created: readonly Exchange[]): Generator<Contradiction> {
  const idOf = ({ operation, body }: Exchange) => `${operation} ${membersOf(body).id}`
  for (const exchanges of Map.groupBy(created, idOf).values()) {
    const [first] = exchanges
    const other = exchanges.find((exchange) => outcomeOf(exchange) !== outcomeOf(first))
    if (first === undefined || other === undefined) continue
    const what = `${nameOf(first)} and ${nameOf(other)} both created ${membersOf(first.body).id}.`
    yield contradiction('id given twice', what, [first, other])
  }
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
