import { ServiceError } from '../lib/errors/errors.ts'

/** Surely not appended, now or later. */
export function unavailable(cause: unknown): ServiceError {
  return new ServiceError('event_log_unavailable', 'The event log did not take the write; nothing was stored.', {
    cause,
  })
}

/** Nothing was to be stored. */
export function unanswered(cause: unknown, message = 'The event log could not be read.'): ServiceError {
  return new ServiceError('event_log_unavailable', message, { cause })
}

/** It was never sent. */
export function notSentInTime(): ServiceError {
  return new ServiceError('event_log_unavailable', 'The event log did not accept the write in time; it was not stored.')
}

/** The records may be in the log, or appear there. */
export function outcomeUnknown(cause: unknown): ServiceError {
  const message =
    'The event log did not confirm the write; it may be stored. With an Idempotency-Key it can be sent again.'
  return new ServiceError('append_outcome_unknown', message, { cause })
}
