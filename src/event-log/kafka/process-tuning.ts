import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { isolateUndecodableBatches } from './batch-decoding.ts'
import { registerCodecs } from './codecs.ts'

/**
 * Makes kafkajs 2.2.4 run well in this process. To be called once, before the first client is made: it patches the
 * library, and for a process that consumes it sets an option of V8.
 */
export function tuneProcess({ consumes }: { readonly consumes: boolean }): void {
  checkRequestQueuesOnDemand()
  registerCodecs()
  isolateUndecodableBatches()
  if (consumes) keepArraysYoung()
}

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

/**
 * kafkajs checks every connection, a thousand times a second and for ever, for requests that wait to be sent: 5 % of a
 * core for an idle log, and a warning of Node about negative time-outs. The check is needed only while one waits.
 */
function checkRequestQueuesOnDemand(): void {
  const queue: RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue').prototype
  const schedule = queue.scheduleCheckPendingRequests
  queue.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this)
  }
}

/**
 * kafkajs keeps the messages of a fetch in arrays that often outlive one collection of the young generation. V8 therefore
 * soon allocates such arrays as old. Dead there, they keep every message that was ever in one until the next full
 * collection: a projector then spends a fifth of its time on copying garbage (docs/performance.md).
 */
function keepArraysYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
