import type { Exchange, History, LogRecord, Pet } from '../history.ts'
import { freshId, isOk } from './records.ts'
import {
  acknowledged,
  asPlaced,
  done,
  isEarlier,
  isFree,
  isSame,
  mayBeRemoved,
  orderIn,
  petIn,
  refused,
  type Spoil,
  withBody,
  writerOf,
} from './spoil.ts'

/** Bugs in answers to writes. */
export const plantedInWrites: Readonly<Record<string, Spoil>> = {
  'a pet has two open orders': (exchange, history) => {
    const { operation, code, id, sentMs } = exchange
    const { exchanges } = history
    if (operation !== 'placeOrder' || code !== 'pet_not_available') return undefined
    const isOpen = (order: number) => !exchanges.some((one) => one.operation === 'updateOrder' && one.id === order)
    const holder = exchanges.find((one) => one.operation === 'placeOrder' && one.id === id && isOk(one))
    const isHeld = holder && holder.answeredMs < sentMs && isOpen(orderIn(holder)?.id ?? 0)
    return isHeld ? acknowledged(exchange, history) : undefined
  },
  'a key has two outcomes': (exchange, history) => {
    const { operation, isReplayed, body } = exchange
    if (operation !== 'createPet' || !isReplayed || !isToldTwice(exchange, history)) return undefined
    return { ...exchange, body: { ...(body as Pet), id: freshId(history, (body as Pet).id) } }
  },
  'an id is given twice': done('createPet', (exchange, { exchanges }) => {
    const other = exchanges.find((one) => one.operation === 'createPet' && isOk(one) && one.number < exchange.number)
    return !exchange.idempotencyKey && other ? withBody(exchange, { id: petIn(other)?.id }) : undefined
  }),
  'a pet is added, and refused': done('createPet', (exchange, { exchanges }) => {
    const isShown = (one: Exchange) => one.operation === 'getPet' && isOk(one) && one.id === petIn(exchange)?.id
    if (exchange.idempotencyKey || !exchanges.some(isShown)) return undefined
    return refused(exchange, 503, 'event_log_unavailable')
  }),
  'an updated order shows its old status': done('updateOrder', asPlaced),
  'an available pet is refused': done('getPet', (exchange, history) => {
    if (!isFree(exchange, history)) return undefined
    return { ...refused(exchange, 409, 'pet_not_available'), operation: 'placeOrder' }
  }),
  'an order that never was is acknowledged': (exchange, history) => {
    const isGone = exchange.operation === 'placeOrder' && exchange.status === 503
    return isGone ? acknowledged(exchange, history) : undefined
  },
  'an instance refuses to order a pet that it has shown': (exchange, history) => {
    if (exchange.operation !== 'getPet' || !exchange.instance || exchange.token) return undefined
    if (mayBeRemoved(exchange, history)) return undefined
    const isKnown = history.exchanges.some((one) => isSame(one, exchange) && isEarlier(one, exchange))
    const { tag: _, cached: __, ...order } = refused(exchange, 422, 'unknown_pet')
    return isKnown ? { ...order, operation: 'placeOrder' } : undefined
  },
  'a pet or an order has no tag': ({ tag, ...exchange }) => (tag === undefined ? undefined : exchange),
  'an update fails for an If-Match that it does not have': (exchange) => {
    const isRefused = exchange.operation === 'updateOrder' && exchange.code === 'order_transition_invalid'
    return isRefused && !exchange.cached ? { ...exchange, status: 412, code: 'precondition_failed' } : undefined
  },
  'a write that nobody was told of does something else': (exchange, { log }) => {
    const { operation, status = 504, wanted, idempotencyKey, number } = exchange
    const isUntold =
      status === 504 && !idempotencyKey && log.some((record) => writerOf(record) === number && isFirst(record, log))
    const isOfPet = operation === 'createPet' && isUntold
    return isOfPet ? { ...exchange, wanted: { ...wanted, categoryId: (wanted?.categoryId ?? 0) + 1 } } : undefined
  },
  'an update passes over its If-Match': done('updateOrder', (exchange, { log, exchanges }) => {
    const { number, id, tag, body } = exchange
    const isWritten = log.some((record) => writerOf(record) === number)
    // else it may have found what a rival had done
    const isAlone = exchanges.filter((one) => one.operation === 'updateOrder' && one.id === id).length === 1
    return isWritten && isAlone && tag ? { ...exchange, cached: { tag, body } } : undefined
  }),
  'a change of a pet is confirmed that nobody made': (exchange) => {
    const { operation, status = 503 } = exchange
    const isLost = operation === 'updatePet' && status === 503 && exchange.wanted?.name
    const { id = 0, wanted } = exchange
    const body = { id, categoryId: 1, status: 'available', ...wanted }
    return isLost ? { ...exchange, instance: 'api', status: 200, body, tag: 'any', tokenAfter: '' } : undefined
  },
  'a change of a category is confirmed that nobody made': (exchange) => {
    const { operation, status = 503, id = 0, wanted } = exchange
    const isLost = operation === 'updateCategory' && status === 503 && wanted?.name
    const body = { id, ...wanted }
    return isLost ? { ...exchange, instance: 'api', status: 200, body, tag: 'any', tokenAfter: '' } : undefined
  },
  'a category is said to be removed that is there': done('getCategory', (exchange, { exchanges }) => {
    const { body: _, tag: __, cached: ___, ...removal } = exchange
    const isEverRemoved = exchanges.some((one) => one.operation === 'removeCategory' && one.id === exchange.id)
    return isEverRemoved ? undefined : { ...removal, operation: 'removeCategory', status: 204 }
  }),
  'a changed pet has the name of before': done('updatePet', (exchange) =>
    exchange.wanted?.name === undefined ? undefined : withBody(exchange, { name: 'before' }),
  ),
  'a change passes over its If-Match': done('updatePet', (exchange, { log, exchanges }) => {
    const { number, id, tag, body } = exchange
    const isWritten = log.some((record) => writerOf(record) === number)
    const isAlone = exchanges.filter((one) => one.operation === 'updatePet' && one.id === id).length === 1
    return isWritten && isAlone && tag ? { ...exchange, cached: { tag, body } } : undefined
  }),
  'a pet is said to be removed that is there': done('getPet', (exchange, history) => {
    const { body: _, tag: __, cached: ___, ...removal } = exchange
    return mayBeRemoved(exchange, history) ? undefined : { ...removal, operation: 'removePet', status: 204 }
  }),
  'a removed pet is said to have never been there': (exchange, { exchanges }) => {
    const { operation, id, status, sentMs } = exchange
    const isRemoved = exchanges.some(
      (one) => one.operation === 'removePet' && one.id === id && one.status === 204 && one.answeredMs < sentMs,
    )
    const isAgain = operation === 'removePet' && status === 204 && isRemoved
    return isAgain ? refused(exchange, 404, 'pet_not_found') : undefined
  },
  'a free pet is said to be ordered': done('getPet', (exchange, history) => {
    if (!isFree(exchange, history)) return undefined
    const { tag: _, cached: __, ...removal } = refused(exchange, 409, 'pet_is_ordered')
    return { ...removal, operation: 'removePet' }
  }),
  'a pet is said to have parked events': ({ code, ...exchange }) =>
    exchange.operation === 'placeOrder' && code === 'pet_not_available'
      ? { ...exchange, status: 503, code: 'stream_parked' }
      : undefined,
  'an event is said to be parked': ({ code, ...exchange }) =>
    code === 'append_outcome_unknown' ? { ...exchange, status: 500, code: 'event_parked' } : undefined,
  'a key is said to be used for something else': ({ code, ...exchange }) =>
    exchange.operation === 'createPet' && exchange.idempotencyKey && code === 'event_log_unavailable'
      ? { ...exchange, status: 422, code: 'idempotency_key_reused' }
      : undefined,
}

/** Whether no stranger had taken its id. */
function isFirst(record: LogRecord, log: History['log']): boolean {
  return log.find(({ key }) => key === record.key) === record
}

function isToldTwice({ idempotencyKey, number }: Exchange, { exchanges }: History): boolean {
  return exchanges.some((one) => one.idempotencyKey === idempotencyKey && one.number !== number && isOk(one))
}
