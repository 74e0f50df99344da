/** What a client has to know of an error. */
export interface ErrorFacts {
  readonly status: number
  /**
   * Whether the same request, unchanged, can succeed soon; a number: after so many seconds, which `Retry-After` says.
   * 'later': once somebody has changed something else.
   */
  readonly retry: 'no' | 'yes' | 'later' | number
  /**
   * 'none': surely nothing was stored. 'unknown': the event may be in the log, or appear there. 'stored': the event is
   * in the log.
   */
  readonly effect: 'none' | 'unknown' | 'stored'
  /** For the reference: text with code in backticks. */
  readonly meaning: string
}

const clientError = (status: number, meaning: string) => ({ status, retry: 'no', effect: 'none', meaning }) as const
const setback = (status: number, retry: 'yes' | 'later' | number, meaning: string) =>
  ({ status, retry, effect: 'none', meaning }) as const

/**
 * The errors of every service, in the order of the reference; those of one service are in its definition. A code is
 * stable and never reused. append_outcome_unknown has no Retry-After: a client that retries automatically may store the
 * same thing twice.
 */
export const engineErrors = {
  invalid_request: clientError(
    400,
    'A value in the body, query, path or a header is missing, unknown or not allowed: the message names it. Or the ' +
      'request is malformed HTTP.',
  ),
  invalid_json: clientError(400, 'The body is empty, not UTF-8, not JSON, or nested too deeply to be read.'),
  invalid_cursor: clientError(
    400,
    'The cursor is damaged, or belongs to another list or another filter. Start again at the first page.',
  ),
  invalid_idempotency_key: clientError(
    400,
    '`Idempotency-Key` must be one string of 1 to 255 printable ASCII characters in double quotes, or a bare token ' +
      '(RFC 9651) of the same length. Parameters behind the string mean nothing.',
  ),
  invalid_consistency_token: clientError(
    400,
    '`Consistency-Token`, or `Last-Event-ID`, is damaged, belongs to another event log, or points beyond the end ' +
      'of this one: what it stood for no longer exists.',
  ),
  unauthorized: clientError(
    401,
    'There is no API key, more than one `Authorization` header, or the key is not valid. `WWW-Authenticate` names ' +
      'the scheme.',
  ),
  insufficient_scope: clientError(403, 'The API key lacks the scope that `WWW-Authenticate` names.'),
  route_not_found: clientError(404, 'There is nothing at this path.'),
  no_such_record: clientError(404, 'The log has no such record, or no event is parked there.'),
  method_not_allowed: clientError(
    405,
    'The path does not support this method. `Allow` lists the methods that it supports.',
  ),
  already_running: clientError(
    409,
    'The process that was asked is busy with a rebuild or a verification. Wait until that has ended.',
  ),
  stream_full: clientError(
    409,
    'The thing that the request is about has as much state as it may have, and would have more. Nothing was changed.',
  ),
  precondition_failed: clientError(
    412,
    '`If-Match` does not have the entity tag of the present state, or `If-None-Match` has it where something was ' +
      'to be changed. Read it again and decide anew. A list, and what a POST is about, have no tag. A weak tag ' +
      '(`W/"…"`), which a proxy makes of ours when it compresses, never matches in `If-Match`: send it without `W/`.',
  ),
  request_timeout: setback(
    408,
    'yes',
    'The request did not arrive in time: its head within 10 seconds, all of it within 30.',
  ),
  payload_too_large: clientError(
    413,
    'The body is larger than 16 KiB, comes in more than 1024 pieces, or has chunk extensions that are too large.',
  ),
  event_too_large: clientError(
    413,
    'The event that the request leads to would be larger than 16 KiB in the event log, with all that goes around it. ' +
      'Nothing was stored. Send less at once.',
  ),
  unsupported_media_type: clientError(
    415,
    'The body is not `application/json` (or, of a PATCH, `application/merge-patch+json`), has a charset other than ' +
      'UTF-8, or a `Content-Encoding` other than `identity`; or there is more than one `Content-Type`.',
  ),
  idempotency_key_reused: clientError(
    422,
    'This API key has already made a different request under the same `Idempotency-Key`.',
  ),
  too_many_requests: setback(
    429,
    1,
    'This API key has reached its limit of concurrent requests, including those that wait ' +
      '(`MAX_IN_FLIGHT_PER_KEY`), or its rate limit (`RATE_LIMIT`). For a rate limit `Retry-After` says when the ' +
      'next request is allowed.',
  ),
  headers_too_large: clientError(
    431,
    'The request line and the headers together, or the trailers, are larger than 16 KiB, or there are more than 200 headers.',
  ),
  internal_error: {
    status: 500,
    retry: 'yes',
    effect: 'unknown',
    meaning: "A bug in the service. Its log has the details under the request's `X-Request-Id`.",
  },
  event_not_applicable: {
    status: 500,
    retry: 'no',
    effect: 'none',
    meaning:
      "A bug in the service: it could not apply the event of this request. Its log has the reason under the request's `X-Request-Id`.",
  },
  event_parked: {
    status: 500,
    retry: 'no',
    effect: 'stored',
    meaning:
      'The event is in the event log, but could not be applied and is parked, so it is not served. An operator has ' +
      'to resolve it.',
  },
  unsupported_transfer_coding: clientError(501, 'The request has a `Transfer-Encoding` other than `chunked`.'),
  overloaded: setback(503, 1, 'Too many writes are waiting, or too many histories are being read.'),
  conflict: setback(
    503,
    1,
    'The time was up before the request could take effect: others changed the same thing first or had every ' +
      'id that was drawn, an earlier request under the `Idempotency-Key` is not settled, or reading took too long.',
  ),
  stream_parked: setback(
    503,
    'later',
    'An earlier event of the same thing is parked. Nothing can follow it until an operator resolves it.',
  ),
  event_log_unavailable: setback(
    503,
    2,
    'The event log did not take the write, or could not be read. What was stored before can still be read, but for events.',
  ),
  read_model_unavailable: setback(
    503,
    1,
    'The read models could not be read. New things can still be added without an `Idempotency-Key`.',
  ),
  read_model_rebuilding: setback(
    503,
    1,
    'The read models are not known to be complete, for example while they are built from the event log: they ' +
      'cannot tell what does not exist.',
  ),
  read_model_behind: setback(503, 1, 'The read models did not reach the position of the `Consistency-Token` in time.'),
  event_version_not_written: setback(
    503,
    'later',
    'The event of this request needs a newer version, which is not written while releases that cannot read it may run. ' +
      'Nothing was stored. Send it again once the upgrade is over.',
  ),
  append_outcome_unknown: {
    status: 504,
    retry: 'yes',
    effect: 'unknown',
    meaning:
      'The event log did not confirm in time that it stored the event, or the outcome of the event was not known in ' +
      'time. `Location`, if there is one, names what may exist now.',
  },
} as const satisfies Record<string, ErrorFacts>

export type EngineErrorCode = keyof typeof engineErrors
