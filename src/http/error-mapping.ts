import { type ErrorCode, ServiceError } from '../lib/errors.ts'

/** What the client is told of each error that Fastify raises by itself about a request. */
const frameworkErrors = new Map<string, readonly [ErrorCode, string]>([
  ['FST_ERR_BAD_URL', ['invalid_request', 'The URL is malformed.']],
  ['FST_ERR_MAX_PARAM_LENGTH', ['invalid_request', 'The path is too long.']],
  ['FST_ERR_CTP_BODY_TOO_LARGE', ['payload_too_large', 'The body is larger than 16 KiB.']],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', ['unsupported_media_type', 'The body must be application/json, in UTF-8.']],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', ['invalid_request', 'The body is not as long as Content-Length says.']],
])

/** What the client is told of each error that Node's HTTP parser raises; anything else is malformed HTTP. */
const parserErrors = new Map<string, readonly [ErrorCode, string]>([
  ['ERR_HTTP_REQUEST_TIMEOUT', ['request_timeout', 'The request did not arrive in time.']],
  ['HPE_HEADER_OVERFLOW', ['headers_too_large', 'The request line and headers are larger than 16 KiB.']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', ['payload_too_large', 'The chunk extensions are too large.']],
])

/** An error that has no code of ours is a bug: the client learns nothing of it, `cause` keeps it for the log. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const [code, message] = frameworkErrors.get(codeOf(error)) ?? ['internal_error', 'An unexpected error occurred.']
  return new ServiceError(code, message, { cause: error })
}

export function parserErrorToServiceError(error: unknown): ServiceError {
  const [code, message] = parserErrors.get(codeOf(error)) ?? ['invalid_request', 'The request is not valid HTTP/1.1.']
  return new ServiceError(code, message, { cause: error })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
