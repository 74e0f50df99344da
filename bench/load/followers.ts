import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { requestHeaders } from './load.ts'

export interface Followers {
  /** How many events all of them together were told so far, and the fewest that one was told. */
  told(): Promise<Told>
  end(): Promise<void>
}

interface Told {
  readonly all: number
  readonly fewest: number
}

/** Clients of the feed, in a thread of their own. Resolves once each has begun. */
export async function startFollowers(url: string, count: number): Promise<Followers> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { url, count } })
  await once(worker, 'message')
  return {
    told: async () => {
      worker.postMessage('told')
      const [told] = (await once(worker, 'message')) as [Told]
      return told
    },
    end: async () => void (await worker.terminate()),
  }
}

/** Returns how many events it was told. */
async function follow(url: string): Promise<() => number> {
  const sent = request(`${url}/v1/events`, { agent: false, headers: requestHeaders }).end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  let told = 0
  let rest = ''
  answer.setEncoding('latin1').on('data', (chunk: string) => {
    const text = rest + chunk
    told += text.split('event: ').length - 1
    rest = text.slice(text.lastIndexOf('\n') + 1)
    if (rest.includes('event: ')) rest = ''
  })
  await once(answer, 'data')
  return () => told
}

if (!isMainThread && parentPort !== null) {
  const { url, count } = workerData as { readonly url: string; readonly count: number }
  const followers = await Promise.all(Array.from({ length: count }, () => follow(url)))
  parentPort.on('message', () => {
    const told = followers.map((each) => each())
    parentPort?.postMessage({ all: told.reduce((sum, each) => sum + each, 0), fewest: Math.min(...told) })
  })
  parentPort.postMessage('begun')
}
