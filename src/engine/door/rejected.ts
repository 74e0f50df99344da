/** A command that the state does not allow. `Code`: what it may be rejected with, as `keyof typeof errors`. */
export class Rejected<Code extends string> {
  /** One of the errors of the service, or of the engine. */
  readonly code: Code
  readonly message: string

  constructor(code: Code, message: string) {
    this.code = code
    this.message = message
  }
}
