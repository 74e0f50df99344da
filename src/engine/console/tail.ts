import { setTimeout as delay } from 'node:timers/promises'
import type { FeedStep } from '../feed/event-feed.ts'
import { shownEvent } from '../http/shown-event.ts'

/** More a second than a person can look at. */
const shownMax = 200
const parts = 4
const partMs = 1000 / parts

/**
 * The events of a feed as server-sent events, a quarter of a second at a time: at most 200 a second, the first ones of
 * each part, and how many were left out. Ends with the next step once the key is no longer valid.
 */
export async function* sampledTail(
  steps: AsyncGenerator<FeedStep>,
  isKeyValid: () => Promise<boolean>,
): AsyncGenerator<string> {
  let gathered = new Gathered()
  let isOver = false
  async function gather(): Promise<void> {
    for await (const { events } of steps) {
      if (!(await isKeyValid())) return
      gathered.add(events.map(({ json }) => json))
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
    yield ': the events that take effect from now on\n\n'
    while (!(isOver && gathered.isEmpty)) {
      await delay(partMs)
      if (gathered.isEmpty) continue
      const { text } = gathered
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

  get isEmpty(): boolean {
    return this.#shown.length === 0
  }

  get text(): string {
    const events = this.#shown.map((json) => shownEvent(json).replaceAll(/[\r\n]/g, ' '))
    return `data: {"leftOut":${this.#leftOut},"events":[${events}]}\n\n`
  }

  add(events: readonly string[]): void {
    const room = shownMax / parts - this.#shown.length
    this.#shown.push(...events.slice(0, room))
    this.#leftOut += Math.max(0, events.length - room)
  }
}
