import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import { decodeFetches } from './batch-decoding.ts'
import { registerCodecs } from './codecs.ts'

let isPatched = false

/**
 * Makes kafkajs 2.2.4 run well in this process. Call it before the first client is created: it patches the library, and
 * in a process that consumes it sets a V8 option.
 */
export function tuneProcess({ consumes }: { readonly consumes: boolean }): void {
  if (!isPatched) {
    checkRequestQueuesOnDemand()
    registerCodecs()
    decodeFetches()
    isPatched = true
  }
  if (consumes) keepArraysYoung()
}

interface RequestQueue {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(): void
}

/**
 * kafkajs checks each connection a thousand times a second, forever, for requests that wait to be sent. That takes 5 %
 * of a core for an idle log, and causes a Node warning about negative timeouts. The check is needed only while a
 * request waits.
 */
function checkRequestQueuesOnDemand(): void {
  const queue: RequestQueue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue').prototype
  const schedule = queue.scheduleCheckPendingRequests
  queue.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this)
  }
}

/**
 * kafkajs keeps the messages of a fetch in arrays that often survive one collection of the young generation, so V8 soon
 * allocates such arrays as old objects. When they die there, they keep every message they ever held until the next full
 * collection: a projector then spends a fifth of its time copying garbage (decision 0010).
 */
function keepArraysYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
