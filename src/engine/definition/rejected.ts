/** A command that the state does not allow. */
export class Rejected {
  /** One of the errors of the service, or of the engine. */
  readonly code: string
  readonly message: string

  constructor(code: string, message: string) {
    this.code = code
    this.message = message
  }
}
