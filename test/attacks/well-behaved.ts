import { setTimeout as delay } from 'node:timers/promises'
import { processState } from '../../bench/soak/process-state.ts'
import { type Attack, Attackers } from './attackers.ts'
import { KeepAliveClient } from './keep-alive-client.ts'

/** What a busy service may grow by before its garbage is collected. One that keeps what it cannot send grows by far more. */
export const memoryGrowthMiB = 400

const everyMs = 5
const lookEveryMs = 20
const askEveryMs = 100

/** The process of a service. */
export interface Attacked {
  readonly url: string
  readonly pid: number
}

export function memoryOf({ pid }: Attacked): number {
  return Math.round(processState(pid).memoryMiB)
}

/** What the service is asked for during an attack. */
export interface Asked {
  /** Each on a connection of its own, one after the other. */
  readonly paths: readonly string[]
  readonly key: string
  readonly attackMs?: number
}

export function descriptorsOf({ pid }: Attacked): number {
  return processState(pid).descriptors
}

export interface Seen {
  /** Statuses of the answers to the client; 0 where there was none. */
  readonly statuses: readonly number[]
  readonly slowestMs: number
  /** The most there were, of the service's process. */
  readonly memoryMiB: number
  readonly descriptors: number
  /** The most bytes of requests that waited for their turn; undefined where the service does not count them. */
  readonly waitingBytes: number | undefined
  /** Whether the process outlived the attack. */
  readonly lives: boolean
}

/** What a client that reads again and again sees during an attack of two seconds, and what the service uses. */
export async function seenDuring(attack: Attack, service: Attacked, asked: Asked): Promise<Seen> {
  const attackers = new Attackers(Number(new URL(service.url).port), attack)
  try {
    return await seenFor(asked.attackMs ?? 2000, service, asked)
  } finally {
    await attackers.stop()
  }
}

/** As `seenDuring`, while whatever goes on goes on. */
export async function seenFor(milliseconds: number, service: Attacked, { paths, key }: Asked): Promise<Seen> {
  const clients = paths.map((path) => [path, new KeepAliveClient(service.url, key)] as const)
  const observer = new Observer(service)
  const statuses = new Set<number>()
  let slowestMs = 0
  for (const end = performance.now() + milliseconds; observer.lives && performance.now() < end; await delay(everyMs)) {
    for (const [path, client] of clients) {
      const began = performance.now()
      statuses.add(await statusOf(client, path))
      slowestMs = Math.max(slowestMs, performance.now() - began)
    }
  }
  for (const [, client] of clients) client.close()
  return { statuses: [...statuses], slowestMs, ...(await observer.stop()) }
}

/**
 * The status that a client ends with which does what a 503 says: on a busy machine Redis may be slow for a moment, and
 * that is told.
 */
async function statusOf(client: KeepAliveClient, path: string, triesLeft = 3): Promise<number> {
  try {
    const { status, retryAfterSeconds = 1 } = await client.get(path)
    if (status !== 503 || triesLeft === 0) return status
    await delay(1000 * retryAfterSeconds)
  } catch {
    return 0
  }
  return await statusOf(client, path, triesLeft - 1)
}

/** Looks at a process beside the client, which may wait for an answer, and keeps the most of what it sees. */
class Observer {
  readonly #service: Attacked
  readonly #client: KeepAliveClient
  readonly #timer: NodeJS.Timeout
  #asking: Promise<void>
  #isStopped = false
  #memoryMiB = 0
  #descriptors = 0
  #waitingBytes: number | undefined
  lives = true

  constructor(service: Attacked) {
    this.#service = service
    this.#client = new KeepAliveClient(service.url, '')
    this.#timer = setInterval(() => this.#look(), lookEveryMs)
    this.#asking = this.#askAgainAndAgain()
  }

  async stop(): Promise<Pick<Seen, 'memoryMiB' | 'descriptors' | 'waitingBytes' | 'lives'>> {
    this.#isStopped = true
    await this.#asking
    this.#look()
    clearInterval(this.#timer)
    this.#client.close()
    return {
      memoryMiB: Math.round(this.#memoryMiB),
      descriptors: this.#descriptors,
      waitingBytes: this.#waitingBytes,
      lives: this.lives,
    }
  }

  #look(): void {
    try {
      const { memoryMiB, descriptors } = processState(this.#service.pid)
      if (Number.isNaN(memoryMiB)) throw new Error('it has just ended')
      this.#memoryMiB = Math.max(this.#memoryMiB, memoryMiB)
      this.#descriptors = Math.max(this.#descriptors, descriptors)
    } catch {
      this.lives = false
    }
  }

  async #askAgainAndAgain(): Promise<void> {
    for (; !this.#isStopped && this.lives; await delay(askEveryMs)) {
      const metrics = await this.#client.get('/metrics').catch(() => undefined)
      const [, bytes] = /^\w+_http_waiting_bytes (\d+)$/m.exec(metrics?.text ?? '') ?? []
      if (bytes !== undefined) this.#waitingBytes = Math.max(this.#waitingBytes ?? 0, Number(bytes))
    }
  }
}
