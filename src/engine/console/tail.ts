import { setTimeout as delay } from 'node:timers/promises'
import type { FeedStep } from '../feed/event-feed.ts'
import type { Position } from '../log/event-log.ts'

/** More a second than a person can look at. */
const shownMax = 200
const parts = 4
const partMs = 1000 / parts

/**
 * The events of a feed as server-sent events, a quarter of a second at a time: at most 200 a second, the first ones of
 * each part, how many were left out, and the place behind them all by `tokenOf`. A message comes without events too, at
 * first and as a sign of life. Ends with the next step once the key is no longer valid.
 */
export async function* sampledTail(
  steps: AsyncGenerator<FeedStep>,
  isKeyValid: () => Promise<boolean>,
  tokenOf: (positions: readonly Position[]) => string,
): AsyncGenerator<string> {
  let gathered = new Gathered()
  let isOver = false
  async function gather(): Promise<void> {
    for await (const step of steps) {
      if (!(await isKeyValid())) return
      gathered.add(step)
    }
  }
  const end = gather()
    .then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
    .finally(() => {
      isOver = true
    })
  try {
    while (!(isOver && gathered.isEmpty)) {
      await delay(partMs)
      if (gathered.isEmpty) continue
      const text = gathered.textWith(tokenOf)
      gathered = new Gathered()
      yield text
    }
    const failed = await end
    if (failed !== undefined) throw failed.error
  } finally {
    await steps.return(undefined)
  }
}

class Gathered {
  readonly #shown: string[] = []
  #leftOut = 0
  #after: readonly Position[] | undefined

  get isEmpty(): boolean {
    return this.#after === undefined
  }

  textWith(tokenOf: (positions: readonly Position[]) => string): string {
    const events = this.#shown.map((json) => json.replaceAll(/[\r\n]/g, ' '))
    return `data: {"leftOut":${this.#leftOut},"after":"${tokenOf(this.#after ?? [])}","events":[${events}]}\n\n`
  }

  add({ events, after }: FeedStep): void {
    const room = shownMax / parts - this.#shown.length
    this.#shown.push(...events.slice(0, room).map(({ json }) => json))
    this.#leftOut += Math.max(0, events.length - room)
    this.#after = after
  }
}
