/** Why the log may not be used as it is: waiting would not change it. The message says what to do. */
export class BootRefusal extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'BootRefusal'
  }
}
