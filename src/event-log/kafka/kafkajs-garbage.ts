import { setFlagsFromString } from 'node:v8'

/**
 * kafkajs keeps the messages of a fetch in arrays that often outlive one collection of the young generation. V8 therefore
 * soon allocates such arrays as old, where they stay, dead, until the next full collection, and with them every message
 * that was ever in one: a projector then spends a fifth of its time on copying garbage (see docs/performance.md).
 */
export function keepArraysYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
