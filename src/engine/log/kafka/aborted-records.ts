import type { FetchedMessage } from './record-batch.ts'

/** As a broker lists those that a fetch touches: the offset of the first record, in any order. */
export interface AbortedTransaction {
  readonly producerId: string
  readonly firstOffset: string
}

/** The key of the marker that ends an aborted transaction: its version and its type, both int16. */
const abortMarker = Buffer.from([0, 0, 0, 0])

/**
 * Marks what aborted transactions wrote as no records of the log. kafkajs's own filter takes the list as sorted and
 * one transaction of it per message, so it shows a part of transactions that interleave; and it takes any record with
 * the key of the marker for one.
 */
export function hideAborted(messages: readonly FetchedMessage[], listed: readonly AbortedTransaction[]): void {
  if (listed.length === 0) return
  const begun = listed
    .map(({ producerId, firstOffset }) => ({ producerId, first: BigInt(firstOffset) }))
    .sort((one, other) => (one.first < other.first ? -1 : 1))
  let next = 0
  const aborting = new Set<string>()
  for (const message of messages) {
    const offset = BigInt(message.offset)
    for (let each = begun[next]; each !== undefined && each.first <= offset; each = begun[++next]) {
      aborting.add(each.producerId)
    }
    const { producerId, inTransaction } = message.batchContext
    if (message.isControlRecord) {
      if (message.key?.equals(abortMarker)) aborting.delete(producerId)
    } else if (inTransaction && aborting.has(producerId)) message.isControlRecord = true
  }
}
