import type { ErrorCode } from '../lib/errors.ts'

/** The HTTP status of each error code. */
export const statusOf: Record<ErrorCode, number> = {
  invalid_request: 400,
  invalid_json: 400,
  invalid_cursor: 400,
  invalid_idempotency_key: 400,
  invalid_consistency_token: 400,
  unauthorized: 401,
  pet_not_found: 404,
  order_not_found: 404,
  route_not_found: 404,
  method_not_allowed: 405,
  pet_not_available: 409,
  order_transition_invalid: 409,
  precondition_failed: 412,
  request_timeout: 408,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_reused: 422,
  unknown_pet: 422,
  too_many_requests: 429,
  headers_too_large: 431,
  internal_error: 500,
  event_parked: 500,
  overloaded: 503,
  conflict: 503,
  stream_parked: 503,
  event_log_unavailable: 503,
  read_model_unavailable: 503,
  read_model_rebuilding: 503,
  read_model_behind: 503,
  append_outcome_unknown: 504,
}

/**
 * After how many seconds a retry is worth while (RFC 9110 section 10.2.3). None for append_outcome_unknown: a client
 * that retries by itself may store the same twice.
 */
export const retryAfterSeconds: Partial<Record<ErrorCode, number>> = {
  too_many_requests: 1,
  overloaded: 1,
  conflict: 1,
  event_log_unavailable: 2,
  read_model_unavailable: 1,
  read_model_rebuilding: 1,
  read_model_behind: 1,
}

/** The body of every error answer, with exactly these members. */
export function errorBody(code: ErrorCode, message: string): string {
  return JSON.stringify({ code, message, status: statusOf[code] })
}
