import { setTimeout as delay } from 'node:timers/promises'
import { describe } from 'vitest'
import { processState } from '../../bench/soak/process-state.ts'
import type { ServiceProcess } from '../e2e/service.ts'
import { type Attack, Attackers } from './attackers.ts'

/** Only Linux tells of a process what these tests look at. */
export const describeOnLinux = describe.runIf(process.platform === 'linux')

/** What a busy service may grow by before its garbage is collected. One that keeps what it cannot send grows by far more. */
export const memoryGrowthMiB = 400

const attackMs = 2000
const everyMs = 5

export function memoryOf({ pid }: ServiceProcess): number {
  return Math.round(processState(pid).memoryMiB)
}

export interface Seen {
  /** Statuses of the answers to the client; 0 where there was none. */
  readonly statuses: readonly number[]
  /** The most there were, of the service's process. */
  readonly memoryMiB: number
  readonly descriptors: number
}

/** What a client that reads a path again and again sees during an attack of two seconds, and what the service uses. */
export async function seenDuring(attack: Attack, service: ServiceProcess, path: string, key: string): Promise<Seen> {
  const attackers = new Attackers(Number(new URL(service.url).port), attack)
  const statuses = new Set<number>()
  let [memoryMiB, descriptors] = [0, 0]
  for (const end = performance.now() + attackMs; performance.now() < end; await delay(everyMs)) {
    statuses.add(await statusOf(`${service.url}${path}`, key))
    memoryMiB = Math.max(memoryMiB, memoryOf(service))
    descriptors = Math.max(descriptors, processState(service.pid).descriptors)
  }
  await attackers.stop()
  return { statuses: [...statuses], memoryMiB, descriptors }
}

/**
 * The status that a client ends with which does what a 503 says: on a busy machine Redis may be slow for a moment, and
 * that is told.
 */
async function statusOf(url: string, key: string, triesLeft = 3): Promise<number> {
  try {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) })
    await answer.arrayBuffer()
    if (answer.status !== 503 || triesLeft === 0) return answer.status
    await delay(1000 * Number(answer.headers.get('retry-after') ?? 1))
  } catch {
    return 0
  }
  return await statusOf(url, key, triesLeft - 1)
}
