import { setTimeout as delay } from 'node:timers/promises'
import { describe } from 'vitest'
import { processState } from '../../bench/soak/process-state.ts'
import { apiKey } from '../e2e/client.ts'
import type { ServiceProcess } from '../e2e/service.ts'

/** Only Linux tells of a process what these tests look at. */
export const describeOnLinux = describe.runIf(process.platform === 'linux')

/** What a busy service may grow by before its garbage is collected. One that keeps what it cannot send grows by far more. */
export const memoryGrowthMiB = 400

export interface Seen {
  /** Statuses of the answers to the client. */
  readonly statuses: ReadonlySet<number>
  readonly p99Ms: number
  /** The most there were, of the service's process. */
  readonly memoryMiB: number
  readonly descriptors: number
}

const everyMs = 5

/** A client that reads a pet some hundred times a second, and looks at what the service uses meanwhile. */
export async function watch(
  { url, pid }: ServiceProcess,
  forMs: number,
  { path = '/v1/pets/1', key = apiKey } = {},
): Promise<Seen> {
  const statuses = new Set<number>()
  const times: number[] = []
  let [memoryMiB, descriptors] = [0, 0]
  const end = performance.now() + forMs
  while (performance.now() < end) {
    const start = performance.now()
    statuses.add(await statusOf(new URL(path, url), key))
    times.push(performance.now() - start)
    const state = processState(pid)
    memoryMiB = Math.max(memoryMiB, Math.round(state.memoryMiB))
    descriptors = Math.max(descriptors, state.descriptors)
    await delay(everyMs)
  }
  times.sort((a, b) => a - b)
  const p99Ms = times[Math.floor(times.length * 0.99)] ?? 0
  return { statuses, p99Ms, memoryMiB, descriptors }
}

/** 0 where there was no answer. */
async function statusOf(url: URL, key: string): Promise<number> {
  try {
    const headers = { authorization: `Bearer ${key}` }
    const answer = await fetch(url, { headers, signal: AbortSignal.timeout(10_000) })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}
