import { createRequire } from 'node:module'

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

/**
 * kafkajs 2.2.4 looks on every connection, a thousand times a second and for ever, whether a request waits to be sent:
 * 5 % of a core for an idle log, and a warning of Node about negative time-outs. Looking is needed only while one waits.
 */
export function calmTimers(): void {
  const queue: RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue').prototype
  const schedule = queue.scheduleCheckPendingRequests
  queue.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this)
  }
}
