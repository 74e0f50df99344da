import { expect } from 'vitest'
import type { Position } from '../../../src/event-log/event-log.ts'
import { ServiceError } from '../../../src/lib/errors.ts'
import type { ReadModelStore } from '../../../src/read-models/store.ts'
import type { Clients, Read, Write } from './clients.ts'
import type { LogModel } from './log-model.ts'

type Page = NonNullable<Read['answer']>

/** Every answer to a GET is what the log says up to its positions, and as recent as it has to be. */
export async function checkReads(
  clients: Clients,
  modelUpTo: (upTo: (partition: number) => number) => Promise<LogModel>,
): Promise<void> {
  for (const read of clients.reads) {
    const { answer, answered, failure, options, atLeast } = read
    if (answer === undefined) {
      if (answered !== undefined && !(failure instanceof ServiceError)) throw failure // a bug
      continue
    }
    const model = await modelUpTo((partition) => nextIn(answer, partition))
    const { collection, status } = options
    expect(JSON.parse(`[${answer.documents}]`), `${collection} ${status}`).toEqual(model.documents(collection, status))
    const lacks = ({ partition, offset }: Position) => nextIn(answer, partition) <= offset
    expect(atLeast.filter(lacks), 'the answer lacks of its token').toEqual([])
    expect(seenBefore(read, clients).filter(lacks), 'the answer lacks of what the process said before').toEqual([])
  }
}

/** What the process had shown, or had said that it can be read, before the request came. */
export function seenBefore({ api, asked }: Read | Write, { reads, writes }: Clients): Position[] {
  const isBefore = (request: Read | Write) => request.api === api && (request.answered ?? Infinity) < asked
  const shown = reads.filter(isBefore).flatMap(({ answer }) => (answer ? lastPositions(answer) : []))
  const written = writes.filter(isBefore).flatMap(({ answer }) => {
    return answer?.outcome === 'replayed' || (answer?.outcome === 'applied' && answer.isReadable)
      ? [answer.position]
      : []
  })
  return [...shown, ...written]
}

function nextIn({ reached }: Page, partition: number): number {
  return reached[0]?.get(partition)?.next ?? 0
}

function lastPositions({ reached }: Page): Position[] {
  return [...(reached[0] ?? [])].map(([partition, { next }]) => ({ partition, offset: next - 1 }))
}

/** The read models hold what the log says, nothing besides, and of each pet what its orders say. */
export async function checkReadModels({ generations, reads }: ReadModelStore, model: LogModel): Promise<void> {
  const generation = (await generations.active())?.name ?? ''
  const all = async (collection: string, status?: string) => {
    const index = status && `status:${status}`
    const { documents } = await reads.page(generation, { collection, index, after: 0, limit: 10_000 })
    return JSON.parse(`[${documents}]`)
  }
  for (const status of [undefined, 'available', 'pending', 'sold']) {
    expect(await all('pets', status), `pets ${status}`).toEqual(model.documents('pets', status))
  }
  for (const status of [undefined, 'placed', 'approved', 'delivered', 'cancelled']) {
    expect(await all('orders', status), `orders ${status}`).toEqual(model.documents('orders', status))
  }
  const orders: { petId: number; status: string }[] = await all('orders')
  for (const { id, status } of await all('pets')) {
    const own = orders.filter(({ petId }) => petId === id).map((order) => order.status)
    const holds = own.filter((each) => each !== 'cancelled')
    expect(holds.length, `open orders of pet ${id}`).toBeLessThanOrEqual(1)
    if (own.length > 0)
      expect(status).toBe(holds[0] === undefined ? 'available' : holds[0] === 'delivered' ? 'sold' : 'pending')
  }
}
