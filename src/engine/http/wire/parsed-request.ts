import { IncomingMessage } from './node-http.ts'

/** A request as Node's parser makes it, but for what many of them on one connection would cost. */
export class ParsedRequest extends IncomingMessage {
  /** Whether it waits for those before it on its connection, so that nobody knows it yet. */
  isWaiting = false
  asksForUpgrade = false

  /**
   * A request on a closed connection counts as one for another protocol, behind which Node's parser reads nothing. Else it
   * would parse all that it has read: up to 64 KiB, which may be 2,000 requests.
   */
  get upgrade(): boolean {
    return this.asksForUpgrade || this.socket.destroyed
  }

  /** Node sets it: once before this class has its own fields. */
  set upgrade(asks: boolean) {
    this.asksForUpgrade = asks
  }

  /** Nobody needs to hear that it is cut off while it waits: telling costs more than parsing it. */
  override destroy(error?: Error): this {
    return this.isWaiting ? this : super.destroy(error)
  }
}
