import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type AbortedTransaction, hideAborted } from '../../../../src/engine/log/kafka/aborted-records.ts'
import type { FetchedMessage } from '../../../../src/engine/log/kafka/record-batch.ts'

/** What producers do one after the other: write a record in their transaction or outside of any, or end it. */
type Step = readonly [producer: number, what: 'write' | 'write alone' | 'commit' | 'abort']

interface Logged {
  readonly message: FetchedMessage
  /** Undefined for a marker. */
  isRecord: boolean | undefined
}

const markers = { abort: Buffer.from([0, 0, 0, 0]), commit: Buffer.from([0, 0, 0, 1]) }

/** The log that the steps make, as far as no transaction is open, and its aborted transactions with their last offsets. */
function logOf(steps: readonly Step[]) {
  const log: Logged[] = []
  const open = new Map<number, Logged[]>()
  const aborted: (AbortedTransaction & { readonly last: number })[] = []
  const ends = [...open.keys()].map((producer): Step => [producer, 'commit'])
  for (const [producer, what] of [...steps, ...ends]) {
    const isEnd = what === 'commit' || what === 'abort'
    const ofProducer = open.get(producer)
    if (isEnd && ofProducer === undefined) continue
    const batchContext = {
      partitionLeaderEpoch: 0,
      producerId: String(producer),
      inTransaction: what !== 'write alone',
    }
    const key = isEnd ? markers[what] : markers.abort // a record may have any key
    const message = { offset: String(log.length), key, value: null, isControlRecord: isEnd, batchContext }
    const logged: Logged = { message, isRecord: isEnd ? undefined : true }
    log.push(logged)
    if (what === 'write') open.set(producer, [...(ofProducer ?? []), logged])
    if (!isEnd || ofProducer === undefined) continue
    open.delete(producer)
    if (what === 'commit') continue
    for (const each of ofProducer) each.isRecord = false
    aborted.push({
      producerId: String(producer),
      firstOffset: ofProducer[0]?.message.offset ?? '',
      last: log.length - 1,
    })
  }
  const stable = Math.min(log.length, ...[...open.values()].map(([first]) => Number(first?.message.offset)))
  return { log: log.slice(0, stable), aborted }
}

const what = fc.constantFrom('write', 'write', 'write alone', 'commit', 'abort')
const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), what), { maxLength: 60 }) as fc.Arbitrary<Step[]>

it('shows the same records, however transactions interleave and wherever a fetch begins and ends', () => {
  fc.assert(
    fc.property(steps, fc.nat(60), fc.nat(60), fc.boolean(), (made, one, other, isReversed) => {
      const { log, aborted } = logOf(made)
      const [from, end] = [Math.min(one, other), Math.max(one, other)]
      const fetched = log.slice(from, end)
      const touched = aborted.filter(({ firstOffset, last }) => Number(firstOffset) < end && last >= from)
      const messages = fetched.map(({ message }) => ({ ...message }))
      hideAborted(messages, isReversed ? touched.toReversed() : touched)
      const shown = messages.filter(({ isControlRecord }) => !isControlRecord).map(({ offset }) => offset)
      expect(shown).toEqual(fetched.filter(({ isRecord }) => isRecord).map(({ message }) => message.offset))
    }),
    { numRuns: 2000 },
  )
})
