import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { type Load, requestHeaders } from './load.ts'

export interface Paced {
  /** Milliseconds from sending to the answer, ascending. */
  readonly latencies: readonly number[]
  /** When each was answered, by `performance.now()`, by the id of what was added. */
  readonly answered: ReadonlyMap<string, number>
}

const tickMs = 5
const connections = 64

/** Sends so many requests a second, whether earlier ones are answered or not. Throws if any answer is not 201. */
export async function paced(url: string, { paths, body }: Load, rate: number, seconds: number): Promise<Paced> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const latencies: number[] = []
  const answered = new Map<string, number>()
  const sent: Promise<void>[] = []
  const target = new URL(paths[0] ?? '', url)

  async function send(): Promise<void> {
    const start = performance.now()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const outgoing = request(target, { agent, method: 'POST', headers: requestHeaders }, async (answer) => {
      const { id } = JSON.parse(await text(answer))
      if (answer.statusCode !== 201) return reject(new Error(`POST ${url}: ${answer.statusCode}`))
      answered.set(String(id), performance.now())
      latencies.push(performance.now() - start)
      resolve()
    })
    outgoing.on('error', reject).end(body)
    await promise
  }

  const began = performance.now()
  for (let due = 0; due < rate * seconds; ) {
    due = Math.min(rate * seconds, Math.round(((performance.now() - began) / 1000) * rate))
    while (sent.length < due) sent.push(send())
    await delay(tickMs)
  }
  await Promise.all(sent)
  agent.destroy()
  return { latencies: latencies.toSorted((one, other) => one - other), answered }
}

export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
