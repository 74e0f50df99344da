/**
 * The catalogue of errors. A code is stable and never reused; its message may change. Each entry answers: can the same
 * request succeed later, and did it have an effect? `src/engine/http/error-replies.ts` has the HTTP statuses. `docs/errors.md`
 * is the reference for clients; a test compares them.
 */
interface ErrorFacts {
  /** Whether the same request can succeed later without a change. */
  readonly retryable: boolean
  /**
   * 'none': surely nothing was stored. 'unknown': the event may be in the log, or appear there. 'stored': the event is
   * in the log.
   */
  readonly effect: 'none' | 'unknown' | 'stored'
}

export const errorFacts = {
  invalid_request: { retryable: false, effect: 'none' },
  invalid_json: { retryable: false, effect: 'none' },
  invalid_cursor: { retryable: false, effect: 'none' },
  invalid_idempotency_key: { retryable: false, effect: 'none' },
  invalid_consistency_token: { retryable: false, effect: 'none' },
  unauthorized: { retryable: false, effect: 'none' },
  insufficient_scope: { retryable: false, effect: 'none' },
  pet_not_found: { retryable: false, effect: 'none' },
  order_not_found: { retryable: false, effect: 'none' },
  route_not_found: { retryable: false, effect: 'none' },
  method_not_allowed: { retryable: false, effect: 'none' },
  pet_not_available: { retryable: true, effect: 'none' },
  order_transition_invalid: { retryable: false, effect: 'none' },
  precondition_failed: { retryable: false, effect: 'none' },
  request_timeout: { retryable: true, effect: 'none' },
  payload_too_large: { retryable: false, effect: 'none' },
  unsupported_media_type: { retryable: false, effect: 'none' },
  idempotency_key_reused: { retryable: false, effect: 'none' },
  unknown_pet: { retryable: false, effect: 'none' },
  too_many_requests: { retryable: true, effect: 'none' },
  quota_exceeded: { retryable: true, effect: 'none' },
  headers_too_large: { retryable: false, effect: 'none' },
  internal_error: { retryable: true, effect: 'unknown' },
  event_parked: { retryable: false, effect: 'stored' },
  unsupported_transfer_coding: { retryable: false, effect: 'none' },
  overloaded: { retryable: true, effect: 'none' },
  conflict: { retryable: true, effect: 'none' },
  stream_parked: { retryable: true, effect: 'none' },
  event_log_unavailable: { retryable: true, effect: 'none' },
  read_model_unavailable: { retryable: true, effect: 'none' },
  read_model_rebuilding: { retryable: true, effect: 'none' },
  read_model_behind: { retryable: true, effect: 'none' },
  append_outcome_unknown: { retryable: true, effect: 'unknown' },
} as const satisfies Record<string, ErrorFacts>

export type ErrorCode = keyof typeof errorFacts

/** An event would create what is there already: another process drew the same id. */
export class IdTakenError extends Error {
  override readonly name = 'IdTakenError'
}

/**
 * Something cannot be opened: it did not answer in time, or it belongs to another release. The message says what to do.
 */
export class OutOfReachError extends Error {
  override readonly name = 'OutOfReachError'
}

/** The message where log and read models answered, but there are no read models yet. */
export const noReadModels = 'There are no read models yet: is a projector running?'

/** A failure with a code of the catalogue; its message is for the client. Any other error is a bug. */
export class ServiceError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ServiceError'
    this.code = code
  }
}
