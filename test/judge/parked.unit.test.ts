import { describe, expect, it } from 'vitest'
import {
  a,
  b,
  c,
  d,
  e,
  type Given,
  HistoryBuilder,
  ofStranger,
  order,
  pet,
  rulesOf,
  sampleHistory,
  token,
} from './history-builder.ts'

const place: Given = { operation: 'placeOrder', id: a, status: undefined }

/** At offset 2 of pet a: an event of a stranger that cannot follow. At offset 3: the order c, of request 0, behind it. */
function parked(): HistoryBuilder {
  const found = new HistoryBuilder()
  found.created(pet(a))
  found.created(pet(b))
  found.ordered('Delivered', order(d, a), { version: 2, ...ofStranger })
  found.ordered('Placed', order(c, a), { version: 3, request: 0 })
  return found
}

function rulesAfter(found: HistoryBuilder, ...exchanges: readonly Given[]): string[] {
  for (const exchange of exchanges) found.answered(exchange)
  return rulesOf(found, false)
}

function discarded(): HistoryBuilder {
  const found = parked()
  found.discarded(pet(a), 2)
  return found
}

describe('what waits behind a parked event', () => {
  const getA = (status: 'available' | 'pending', ...at: [number, number]): Given => {
    const named = token(at)
    return { operation: 'getPet', id: a, body: pet(a, status), token: named, tokenAfter: named }
  }

  it('takes effect once that is discarded, and not before', () => {
    expect(rulesAfter(parked(), place, getA('available', 0, 3))).toEqual([])
    expect(rulesAfter(parked(), place, getA('pending', 0, 3))).toEqual(['impossible read'])
    expect(rulesAfter(discarded(), place, getA('available', 0, 3), getA('pending', 0, 4))).toEqual([])
    expect(rulesAfter(discarded(), place, getA('available', 0, 4))).toEqual(['stale read'])
  })

  it('is told once it has taken effect', () => {
    const told: Given = { ...place, status: 201, body: order(c, a), tokenAfter: token([0, 3]) }
    expect(rulesAfter(discarded(), told)).toEqual([])
    expect(rulesAfter(parked(), told)).toEqual(['lost write'])
  })

  it('waits on if another one is discarded', () => {
    const found = parked()
    found.discarded(pet(a), 3)
    found.discarded(pet(b), 2)
    expect(rulesAfter(found, place, getA('available', 0, 4))).toEqual([])
  })
})

describe('a refusal', () => {
  const refused = (code: string, more: object = {}): Given => ({ ...place, status: 500, code, ...more })

  it('may say that the event is parked, of the request or of its key', () => {
    expect(rulesAfter(parked(), refused('event_parked'))).toEqual([])
    const keyed = { idempotencyKey: 'k' }
    expect(rulesAfter(parked(), { ...place, ...keyed }, refused('event_parked', keyed))).toEqual([])
    expect(rulesAfter(parked(), place, refused('event_parked'))).toEqual(['impossible refusal'])
  })

  it('may say that the pet has parked events, until they are gone', () => {
    const ofStream = (offset: number) => refused('stream_parked', { token: token([0, offset]) })
    expect(rulesAfter(parked(), place, ofStream(3), { ...ofStream(3), id: b })).toEqual(['impossible refusal'])
    expect(rulesAfter(discarded(), place, ofStream(3), ofStream(4))).toEqual(['stale refusal'])
  })

  it('may say that the key is of another request only if that one used it', () => {
    const create = (name: string, more: object = {}): Given => {
      return {
        operation: 'createPet',
        wanted: { name, categoryId: 7 },
        idempotencyKey: 'k',
        status: undefined,
        ...more,
      }
    }
    const reused = create('other', { status: 422, code: 'idempotency_key_reused' })
    const found = () => {
      const history = new HistoryBuilder()
      history.created(pet(a), { request: 0, key: 'hash' })
      return history
    }
    expect(rulesAfter(found(), create(pet(a).name), reused)).toEqual([])
    expect(rulesAfter(found(), create(pet(a).name), { ...reused, idempotencyKey: 'l' })).toEqual(['impossible refusal'])
    expect(rulesAfter(new HistoryBuilder(), create(pet(a).name), reused)).toEqual(['impossible refusal'])
  })
})

describe('a stranger', () => {
  const create: Given = { operation: 'createPet', wanted: { name: 'own', categoryId: 7 }, tokenAfter: token([0, 1]) }
  const taken = (options: object) => {
    const found = new HistoryBuilder()
    found.created(pet(a), options)
    found.created({ ...pet(a), name: 'own' }, { request: 0 })
    return found
  }

  it('may take the id of a pet that cannot be read yet, and nobody else', () => {
    const own = { ...create, body: { ...pet(a), name: 'own' } }
    const get: Given = { operation: 'getPet', id: a, body: pet(a), tag: '"1"' }
    expect(rulesAfter(taken(ofStranger), { ...own, isApplied: false, tag: '"1"' }, get)).toEqual([])
    expect(rulesAfter(taken(ofStranger), { ...own, isApplied: true })).toEqual(['lost write'])
    const rival: Given = { operation: 'createPet', wanted: { name: pet(a).name, categoryId: 7 }, status: undefined }
    const rules = rulesAfter(taken({ request: 1 }), { ...own, isApplied: false }, rival)
    expect(rules).toEqual(['an id was drawn twice', 'lost write'])
  })

  describe.each([
    ['a stranger', ofStranger],
    ['the service, before its last block of ids was lost', {}],
  ])('may take the id of an order: %s', (_, taker) => {
    /** Order d is of pet b. At offset 6 the request 0 asks for it for pet a, and at 7 for another one. */
    const found = () => {
      const history = sampleHistory()
      history.ordered('Placed', order(d, b), { version: 2, ...taker })
      history.ordered('Cancelled', order(c, a), { version: 4 })
      history.ordered('Placed', order(d, a), { version: 5, request: 0 })
      return history
    }
    const placed = (id: number): Given => ({ ...place, status: 201, body: order(id, a), tokenAfter: token([0, 7]) })

    it('which then gets another one', () => {
      const history = found()
      history.ordered('Placed', order(e, a), { version: 5, request: 0 })
      expect(rulesAfter(history, placed(e))).toEqual([])
      expect(rulesAfter(found(), placed(d))).toEqual(['lost write'])
    })

    it('which is not parked, nor is its pet', () => {
      const ofStream: Given = { ...place, status: 503, code: 'stream_parked' }
      expect(rulesAfter(found(), { ...place, status: 500, code: 'event_parked' })).toEqual(['impossible refusal'])
      expect(rulesAfter(found(), place, ofStream)).toEqual(['impossible refusal'])
    })
  })
})
