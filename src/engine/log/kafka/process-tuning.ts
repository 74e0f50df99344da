import { setFlagsFromString } from 'node:v8'
import kafkajs from 'kafkajs'
import { decodeFetches } from './batch-decoding.ts'
import { registerCodecs } from './codecs.ts'
import { moduleOfKafkajs } from './kafkajs-modules.ts'
import { encodeRecords } from './record-encoding.ts'

let isPatched = false

/**
 * Makes kafkajs 2.2.4 run well in this process. Call it before the first client is created: it patches the library, and
 * in a process that consumes it sets a V8 option.
 */
export function tuneProcess({ consumes }: { readonly consumes: boolean }): void {
  if (!isPatched) {
    checkRequestQueuesOnDemand()
    endStoppedConsumers()
    registerCodecs()
    encodeRecords()
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
  const queue: RequestQueue = moduleOfKafkajs('network/requestQueue').prototype
  const schedule = queue.scheduleCheckPendingRequests
  queue.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this)
  }
}

interface Runner {
  readonly running: boolean
  fetch(nodeId: number): Promise<unknown>
}

/**
 * When the brokers of a cluster change, kafkajs ends the loops that fetch from them and begins others, also where the
 * consumer was stopped meanwhile. Such a loop would get nothing, at once, for ever: nothing else would run in the
 * process any more. It ends with this error.
 */
function endStoppedConsumers(): void {
  const runner: Runner = moduleOfKafkajs('consumer/runner').prototype
  const { fetch } = runner
  runner.fetch = async function (this: Runner, nodeId) {
    if (!this.running) throw new kafkajs.KafkaJSError('the consumer was stopped')
    return await fetch.call(this, nodeId)
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
