import { whenDone } from '../lib/when-done.ts'
import type { Passage } from './link.ts'

/** Requests of a kind, by its key in the protocol of Kafka, with this text in them, and without the other one. */
export interface Kind {
  readonly apiKey: number
  readonly about: string
  readonly unless?: string
}

/** What of them is kept back: the request, so that no broker has it, or the answer of the broker that has done it. */
export type Kept = 'request' | 'answer'

export interface Hold {
  /** Resolves once something is kept back. */
  readonly arrived: Promise<void>
  release(): void
}

interface Held {
  readonly kinds: readonly Kind[]
  readonly kept: Kept
  readonly arrive: () => void
  readonly released: Promise<void>
}

/** Goes with a link to a Kafka, which is given `newPassage`. */
export function heldRequests() {
  let held: Held | undefined

  function newPassage(): Passage {
    const waiting = new Map<number, Held>()
    return {
      async *there(sent) {
        for await (const request of messagesOf(sent)) {
          const current = held
          if (current?.kinds.some((kind) => isOf(kind, request))) {
            if (current.kept === 'request') await keep(current)
            else waiting.set(request.readInt32BE(requestIdAt), current)
          }
          yield request
        }
      },
      async *back(answered) {
        for await (const answer of messagesOf(answered)) {
          const of = waiting.get(answer.readInt32BE(answerIdAt))
          if (of !== undefined) await keep(of)
          yield answer
        }
      },
    }
  }
  /** Keeps back what is of these kinds, and what comes behind it on its connection. */
  function hold(kept: Kept, ...kinds: readonly Kind[]): Hold {
    const arrival = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const own: Held = { kinds, kept, arrive: arrival.resolve, released: release.promise }
    held = own
    function letGo(): void {
      if (held === own) held = undefined
      release.resolve()
    }
    whenDone(letGo) // a test that fails leaves nothing to the next one
    return { arrived: arrival.promise, release: letGo }
  }
  return { newPassage, hold }
}

export type HeldRequests = ReturnType<typeof heldRequests>

const sizeBytes = 4
const requestIdAt = 8
const answerIdAt = 4

async function keep({ arrive, released }: Held): Promise<void> {
  arrive()
  await released
}

function isOf({ apiKey, about, unless }: Kind, request: Buffer): boolean {
  if (request.readInt16BE(sizeBytes) !== apiKey || !request.includes(about)) return false
  return unless === undefined || !request.includes(unless)
}

/** Whole requests or answers: each has its size before it. */
async function* messagesOf(sent: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of sent) {
    bytes = Buffer.concat([bytes, chunk])
    while (bytes.length >= sizeBytes && bytes.length >= sizeBytes + bytes.readInt32BE()) {
      const end = sizeBytes + bytes.readInt32BE()
      yield bytes.subarray(0, end)
      bytes = bytes.subarray(end)
    }
  }
}
