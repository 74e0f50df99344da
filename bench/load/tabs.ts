import { setTimeout as delay } from 'node:timers/promises'
import { requestHeaders } from './load.ts'

const statusMs = 1000
const figuresMs = 5000

/** Asks what so many tabs of the console ask while they show figures and events, until `stack` ends. */
export function openTabs(stack: AsyncDisposableStack, url: string, tabs: number): void {
  const closed = new AbortController()
  stack.defer(() => closed.abort())
  const ask = (path: string) =>
    fetch(`${url}/console/api/${path}`, { headers: requestHeaders, signal: closed.signal }).catch((error: unknown) => {
      if (!closed.signal.aborted) throw error
    })
  async function every(ms: number, path: string): Promise<void> {
    await delay(Math.random() * ms)
    while (!closed.signal.aborted) {
      await (await ask(path))?.text().catch(() => {})
      await delay(ms, undefined, { signal: closed.signal }).catch(() => {})
    }
  }
  async function follow(): Promise<void> {
    const body = (await ask('tail'))?.body ?? []
    for await (const _ of body) if (closed.signal.aborted) return
  }
  for (let tab = 0; tab < tabs; tab++) {
    void every(statusMs, 'status')
    void every(figuresMs, 'figures')
    void follow().catch(() => {})
  }
}
