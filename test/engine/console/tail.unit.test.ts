import { describe, expect, it } from 'vitest'
import { sampledTail } from '../../../src/engine/console/tail.ts'
import type { FeedStep } from '../../../src/engine/feed/event-feed.ts'
import type { Position } from '../../../src/engine/log/event-log.ts'
import { placeOf } from '../../../src/engine/operations/parked.ts'

const eventOf = (n: number) => ({ stream: String(n), type: 'theatre.SeatAdded.v1', json: `{"id":"${n}"}` })
const stepOf = (from: number, count: number): FeedStep => ({
  events: Array.from({ length: count }, (_, i) => eventOf(from + i)),
  after: [],
})
const valid = async () => true
const tokenOf = (positions: readonly Position[]) => positions.map(placeOf).join()

interface Message {
  readonly leftOut: number
  readonly events: readonly { readonly id: string }[]
}
async function messagesOf(tail: AsyncGenerator<string>): Promise<Message[]> {
  const messages: Message[] = []
  for await (const text of tail) if (text.startsWith('data: ')) messages.push(JSON.parse(text.slice('data: '.length)))
  return messages
}

describe('the tail of events', () => {
  it('has each one where there are few', async () => {
    async function* steps() {
      yield stepOf(0, 3)
      yield stepOf(3, 1)
    }
    const messages = await messagesOf(sampledTail(steps(), valid, tokenOf))
    expect(messages.flatMap(({ events }) => events.map(({ id }) => id))).toEqual(['0', '1', '2', '3'])
    expect(messages.map(({ leftOut }) => leftOut)).toEqual(messages.map(() => 0))
  })

  it('has the first ones of ten thousand, and says how many it leaves out', async () => {
    async function* steps() {
      for (let from = 0; from < 10_000; from += 500) yield stepOf(from, 500)
    }
    const messages = await messagesOf(sampledTail(steps(), valid, tokenOf))
    const shown = messages.flatMap(({ events }) => events)
    expect(shown.slice(0, 50).map(({ id }) => Number(id))).toEqual(Array.from({ length: 50 }, (_, i) => i))
    for (const { events } of messages) expect(events.length).toBeLessThanOrEqual(50)
    expect(shown.length + messages.reduce((sum, { leftOut }) => sum + leftOut, 0)).toBe(10_000)
  })

  it('ends once the key is no longer valid, and lets go of the feed', async () => {
    let isLetGo = false
    async function* steps() {
      try {
        for (let from = 0; ; from++) yield stepOf(from, 1)
      } finally {
        isLetGo = true
      }
    }
    let asked = 0
    const messages = await messagesOf(sampledTail(steps(), async () => ++asked <= 2, tokenOf))
    expect(messages.flatMap(({ events }) => events)).toHaveLength(2)
    expect(isLetGo).toBe(true)
  })

  it('tells of an end by an error', async () => {
    async function* steps(): AsyncGenerator<FeedStep> {
      yield stepOf(0, 1)
      throw new Error('the log is away')
    }
    await expect(messagesOf(sampledTail(steps(), valid, tokenOf))).rejects.toThrow('the log is away')
  })
})
