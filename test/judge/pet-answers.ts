import {
  type Contradiction,
  codesThatMayHaveEffect,
  contradiction,
  type Exchange,
  type History,
  isSuccess,
  type Order,
  type Pet,
} from './history.ts'
import { statusesBefore } from './pet-order.ts'

/** All attempts of one write: those under one Idempotency-Key, or a single exchange. */
export interface Request {
  readonly attempts: readonly Exchange[]
  /** The attempts that told of the one effect. */
  readonly told: readonly Exchange[]
  /** The attempts that may have caused it. */
  readonly effective: readonly Exchange[]
}

export function mayHaveEffect(exchange: Exchange): boolean {
  return isSuccess(exchange) || exchange.code === undefined || codesThatMayHaveEffect.has(exchange.code)
}

/** An updated order has no key: each attempt is a request. */
export function requestsOf(history: History, operation: 'createPet' | 'placeOrder'): Request[] {
  const writes = history.exchanges.filter((exchange) => exchange.operation === operation)
  const byKey = Map.groupBy(writes, ({ idempotencyKey, id, number }) =>
    idempotencyKey === undefined ? `number ${number}` : `key ${idempotencyKey} ${id}`,
  )
  return [...byKey.values()].map((attempts) => ({
    attempts,
    told: attempts.filter(isSuccess),
    effective: attempts.filter(mayHaveEffect),
  }))
}

export function petsIn(exchange: Exchange): readonly Pet[] {
  return isSuccess(exchange) && exchange.operation.includes('Pet') ? ([exchange.body].flat() as Pet[]) : []
}

export function ordersIn(exchange: Exchange): readonly Order[] {
  return isSuccess(exchange) && exchange.operation.includes('Order') ? ([exchange.body].flat() as Order[]) : []
}

/** Contradictions between what was asked for and what was answered, whatever the state of the pets. */
export function checkAnswers(history: History): Contradiction[] {
  const creations = requestsOf(history, 'createPet')
  const writes = [...creations, ...requestsOf(history, 'placeOrder')]
  return [
    ...writes.flatMap(checkOutcome),
    ...history.exchanges.flatMap(checkAnswer),
    ...checkNames(history, creations),
    ...checkIds(history, writes),
    ...checkTimes(history),
  ]
}

function checkOutcome({ told }: Request): Contradiction[] {
  const bodies = new Set(told.map(({ body }) => JSON.stringify(body)))
  if (bodies.size < 2) return []
  return [contradiction('a key has two outcomes', `One request was answered with ${[...bodies].join(' and ')}.`, told)]
}

function checkAnswer(exchange: Exchange): Contradiction[] {
  const { operation, id, page, wanted } = exchange
  const answers = [...petsIn(exchange), ...ordersIn(exchange)]
  const impossible = (what: string) => [contradiction('impossible read', what, [exchange])]
  if (page !== undefined) {
    const ids = answers.map((answer) => answer.id)
    if (ids.some((next, at) => next <= (ids[at - 1] ?? page.after)))
      return impossible('A page is not in the order of ids.')
    if (ids.length > page.limit) return impossible('A page is longer than its limit.')
    const { status } = page
    if (answers.some((answer) => status !== undefined && answer.status !== status)) {
      return impossible(`A page of ${status} ones has another status.`)
    }
    return []
  }
  const [answer] = answers
  if (answer === undefined || operation === 'createPet') return []
  if (id !== ('petId' in answer && operation === 'placeOrder' ? answer.petId : answer.id)) {
    return impossible(`Asked about ${id}, the answer is about another one.`)
  }
  const asked = (operation === 'placeOrder' ? 'placed' : wanted?.status) as Order['status'] | undefined
  if (operation === 'getPet' || operation === 'getOrder' || asked === undefined) return []
  const isLater = (status: Order['status']) => status === asked || statusesBefore[status].some(isLater)
  return isLater(answer.status as Order['status'])
    ? []
    : impossible(`An order that became ${asked} is ${answer.status}.`)
}

/** The name of a pet tells which request added it. */
function checkNames(history: History, creations: readonly Request[]): Contradiction[] {
  const requests = new Map(creations.flatMap((one) => one.attempts.map(({ wanted }) => [wanted?.name, one] as const)))
  const shown = history.exchanges.flatMap((exchange) => petsIn(exchange).map((pet) => ({ pet, exchange })))
  return [...Map.groupBy(shown, ({ pet }) => pet.name)].flatMap(([name, told]) => {
    const exchanges = told.map(({ exchange }) => exchange)
    const request = requests.get(name)
    const [asked] = request?.attempts ?? []
    if (request === undefined) return [contradiction('impossible read', `Nobody asked for a pet ${name}.`, exchanges)]
    if (request.effective.length === 0) {
      return [contradiction('refused, but in the log', `${name} was refused.`, [...request.attempts, ...exchanges])]
    }
    if (new Set(told.map(({ pet }) => pet.id)).size > 1) {
      return [contradiction('doubled write', `${name} has several ids.`, exchanges)]
    }
    const isAsked = ({ pet, exchange }: (typeof told)[number]) =>
      pet.categoryId === asked?.wanted?.categoryId &&
      (exchange.operation !== 'createPet' ||
        (exchange.wanted?.name === name && pet.status === (asked.wanted.status ?? 'available')))
    return told.every(isAsked) ? [] : [contradiction('impossible read', `${name} is not as asked for.`, exchanges)]
  })
}

function checkIds(history: History, writes: readonly Request[]): Contradiction[] {
  const given = writes.flatMap(({ told: [first] }) => (first === undefined ? [] : [first]))
  const idOf = ({ operation, body }: Exchange) => `${operation} ${(body as Pet | Order).id}`
  const names = history.exchanges.flatMap((exchange) => [
    ...petsIn(exchange).map(({ id, name }) => ({ of: `pet ${id}`, is: name, exchange })),
    ...ordersIn(exchange).map(({ id, petId }) => ({ of: `order ${id}`, is: String(petId), exchange })),
  ])
  return [
    ...[...Map.groupBy(given, idOf).values()].filter((told) => told.length > 1),
    ...[...Map.groupBy(names, ({ of }) => of).values()]
      .filter((told) => new Set(told.map(({ is }) => is)).size > 1)
      .map((told) => told.map(({ exchange }) => exchange)),
  ].map((exchanges) => contradiction('id given twice', 'Two pets, or two orders, have the same id.', exchanges))
}

/** In a session that passes on its tokens, the time at which an order was updated does not go back. */
function checkTimes({ exchanges }: History): Contradiction[] {
  const sessions = Map.groupBy(
    exchanges.filter(({ session }) => session !== undefined),
    ({ session }) => session,
  )
  return [...sessions.values()].flatMap((session) => {
    const latest = new Map<number, { updatedAt: string; exchange: Exchange }>()
    return session.flatMap((exchange) => {
      if (exchange.token === undefined && exchange.tokenAfter !== undefined) latest.clear()
      if (exchange.operation === 'placeOrder') return []
      return ordersIn(exchange).flatMap(({ id, updatedAt }) => {
        const before = latest.get(id)
        if (exchange.tokenAfter !== undefined) latest.set(id, { updatedAt, exchange })
        if (exchange.token === undefined || before === undefined || before.updatedAt <= updatedAt) return []
        return [
          contradiction('stale read', `Order ${id} was updated earlier than before.`, [before.exchange, exchange]),
        ]
      })
    })
  })
}
