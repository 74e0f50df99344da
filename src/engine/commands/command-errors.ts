import { ServiceError } from '../lib/errors/errors.ts'
import { UnknownOutcome } from './command-handler.ts'
import type { Target } from './event-writer.ts'

export function keyReused(): ServiceError {
  return new ServiceError('idempotency_key_reused', 'This Idempotency-Key was already used for a different request.')
}

export function streamParked(): ServiceError {
  return new ServiceError(
    'stream_parked',
    'An earlier event of the same stream is parked, and nothing can follow it. Nothing was stored.',
  )
}

export function eventParked(): ServiceError {
  return new ServiceError('event_parked', 'The event is stored, but it could not be applied and was parked.')
}

export function conflict(): ServiceError {
  return new ServiceError('conflict', 'The time was up before this request could take effect. Nothing was changed.')
}

/** It may have been the first under its key, or have to be refused. */
export function appendPending(): ServiceError {
  const message = 'Nothing is known yet of an earlier request under this Idempotency-Key. Nothing was changed.'
  return new ServiceError('conflict', message)
}

export function unknownOutcomeOf(written: Target, cause: ServiceError | undefined): UnknownOutcome {
  const message =
    'The event is stored, but its outcome is not known yet. With an Idempotency-Key the request can be sent again.'
  return new UnknownOutcome(written, message, cause)
}
