import { inspect } from 'node:util'
import type { EngineErrorCode } from './engine-errors.ts'

/** An event would create what is there already: another process drew the same id. */
export class IdTakenError extends Error {
  override readonly name = 'IdTakenError'
}

/**
 * Something cannot be opened: it did not answer in time, or it belongs to another release. The message says what to do.
 */
export class OutOfReachError extends Error {
  override readonly name: string = 'OutOfReachError'
}

/** The message where log and read models answered, but there are no read models yet. */
export const noReadModels = 'There are no read models yet: is a projector running?'

/** A failure with a code of the error table; its message is for the client. Any other error is a bug. */
export class ServiceError extends Error {
  readonly code: string

  constructor(code: EngineErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ServiceError'
    this.code = code
  }

  /** With a code of the service's own errors, which no type of the engine has. */
  static own(code: string, message: string): ServiceError {
    return new ServiceError(code as EngineErrorCode, message)
  }
}

/** What is known of whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message
  return typeof error === 'string' ? error : inspect(error, { breakLength: Number.POSITIVE_INFINITY })
}
