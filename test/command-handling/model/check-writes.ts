import { expect } from 'vitest'
import type { Position } from '../../../src/event-log/event-log.ts'
import { type ErrorCode, errorFacts, ServiceError } from '../../../src/lib/errors.ts'
import { seenBefore } from './check-reads.ts'
import { type Clients, newPets, type Write } from './clients.ts'
import type { Effect, LogModel } from './log-model.ts'
import type { Result } from './process.ts'

/** Every answer to a POST or PATCH was true when it was given, and stays so. */
export function checkWrites(clients: Clients, model: LogModel): void {
  const offsetOf = new Map<string, number>()
  for (const write of clients.writes) {
    const { answer, answered, failure, traceparent, idempotency } = write
    if (answer?.outcome === 'unchanged') checkUnchanged(write, answer, model)
    else if (answer !== undefined) checkDone(write, answer, model)
    else if (failure instanceof ServiceError) checkRefused(write, failure.code, model, seenBefore(write, clients))
    else if (answered !== undefined) throw failure // a bug: every failure has a code
    if (answer === undefined || !('position' in answer) || idempotency === undefined) continue
    const { offset } = answer.position
    expect(offsetOf.get(idempotency.key) ?? offset, `${traceparent}: one key comes to one event`).toBe(offset)
    offsetOf.set(idempotency.key, offset)
  }
}

/** The event is there, is that of the request or of its key, took effect, and did what was asked for. */
function checkDone(write: Write, answer: Exclude<Result, { outcome: 'unchanged' }>, model: LogModel): void {
  const { traceparent, what, id, idempotency } = write
  const event = model.eventAt(answer.position)
  const isReplay = answer.outcome === 'replayed'
  expect(event?.traceparent === traceparent, `${traceparent} is replayed`).toBe(!isReplay)
  if (!isReplay && !answer.isReadable) {
    expect(event).toMatchObject({ version: 1, data: answer.state?.pet ?? {} })
    return
  }
  const { version, pet, order } = model.effectAt(answer.position) ?? {}
  const { order: told, ...state } = isReplay ? { order: undefined } : { ...answer.state }
  const { version: _, ...ofOrder } = told ?? { version: 0 }
  if (isReplay) expect([event?.key, event?.fingerprint]).toEqual([idempotency?.key, idempotency?.fingerprint])
  else expect({ pet, order: order ?? {} }, `${traceparent} is told`).toEqual({ pet: state.pet, order: ofOrder })
  expect(version, `${traceparent} took effect`).toBe(isReplay ? answer.record.version : answer.version)
  if (what.kind === 'create') expect(pet).toMatchObject(newPets[what.pet])
  else if (what.kind === 'order') expect(order).toMatchObject({ petId: id, status: 'placed' })
  else expect(order).toMatchObject({ id, status: what.status })
  if (isReplay) expect((order ?? pet)?.id).toBe(answer.record.id)
}

function checkUnchanged({ what, id, traceparent }: Write, { version }: { version: number }, model: LogModel): void {
  const changes = model.effects.filter(({ order }) => order?.id === id)
  const status = changes.findLast((change) => change.version <= version)?.order?.status
  expect(what, `${traceparent} asked for what was so at version ${version}`).toMatchObject({ status })
}

/** What failed without effect had none; and what was refused could not be done, by all that the process had shown. */
function checkRefused(write: Write, code: ErrorCode, model: LogModel, seen: readonly Position[]): void {
  const { traceparent } = write
  if (errorFacts[code].effect === 'none') {
    const effects = model.effects.filter((effect) => effect.traceparent === traceparent)
    expect(effects, `${traceparent} had no effect: ${code}`).toEqual([])
  }
  expect(isTrue(write, code, model, seen), `${traceparent} was refused: ${code}`).toBe(true)
}

function isTrue(write: Write, code: ErrorCode, model: LogModel, seen: readonly Position[]): boolean {
  const { traceparent, what, id, idempotency } = write
  const isSeen = ({ position: { partition }, since }: Effect) =>
    seen.some((position) => position.partition === partition && position.offset >= since)
  const ofPet = model.effects.filter(({ pet }) => pet.id === id)
  const ofOrder = model.effects.filter(({ order }) => order?.id === id)
  const sinceSeen = (effects: readonly Effect[]) => effects.slice(Math.max(0, effects.findLastIndex(isSeen)))
  const ofKey = model.events.filter(({ key }) => key !== undefined && key === idempotency?.key)
  switch (code) {
    case 'unknown_pet':
      return !ofPet.some(isSeen)
    case 'order_not_found':
      return !ofOrder.some(isSeen)
    case 'pet_not_available':
      return sinceSeen(ofPet).some(({ pet }) => pet.status !== 'available')
    case 'order_transition_invalid':
      return sinceSeen(ofOrder).some(({ order }) => what.kind !== 'update' || !isPossible(order?.status, what.status))
    case 'idempotency_key_reused':
      return ofKey.some(({ fingerprint }) => fingerprint !== idempotency?.fingerprint)
    case 'event_parked':
      return model.parked.some((event) => event.traceparent === traceparent || ofKey.includes(event))
    case 'stream_parked':
      return model.parked.length > 0
    default:
      return true // nothing is said about a pet
  }
}

function isPossible(from: unknown, to: string): boolean {
  const transitions = ['placed approved', 'placed cancelled', 'approved delivered', 'approved cancelled']
  return transitions.includes(`${from} ${to}`)
}
