export interface Hold {
  /** Resolves once a request is kept back. */
  readonly arrived: Promise<void>
  release(): void
}

/** Goes with a link to a Kafka, which is given `pass`. */
export function heldRequests() {
  let held: { apiKey: number; arrive: () => void; released: Promise<void> } | undefined

  async function* pass(sent: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const request of requestsOf(sent)) {
      if (held?.apiKey === request.readInt16BE(sizeBytes)) {
        held.arrive()
        await held.released
      }
      yield request
    }
  }
  /** Keeps back requests of one kind, by its key in the protocol of Kafka, and what comes behind them on their connections. */
  function hold(apiKey: number): Hold {
    const arrival = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    held = { apiKey, arrive: arrival.resolve, released: release.promise }
    return {
      arrived: arrival.promise,
      release: () => {
        held = undefined
        release.resolve()
      },
    }
  }
  return { pass, hold }
}

const sizeBytes = 4

/** Whole requests: each has its size before it. */
async function* requestsOf(sent: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
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
