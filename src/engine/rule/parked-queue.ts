import type { Offset } from '../log/event-log.ts'
import {
  encodeOffsets,
  encodeParkedStream,
  type ParkedStream,
  type StreamId,
  waitingChunks,
  waitingPerChunk,
} from '../read-models/stored-texts.ts'
import { chunkId } from '../read-models/stream-history.ts'
import type { TextEdits } from './stream-state.ts'

const reasonMax = 200

/** The parked events of one stream while a batch is classified. */
export class ParkedQueue {
  readonly #stream: StreamId
  readonly #partition: number
  readonly #stored: ParkedStream | undefined
  #first: { readonly offset: Offset; readonly reason: string } | undefined
  /** How many of those that wait are not in `#waiting`, as they come before the first chunk that was loaded. */
  readonly #unloaded: number
  #waiting: Offset[]
  #isChanged = false

  /** `waiting`: all that wait, or those in the last chunk, where nothing is discarded. */
  constructor(stream: StreamId, partition: number, stored: ParkedStream | undefined, waiting: readonly Offset[]) {
    this.#stream = stream
    this.#partition = partition
    this.#stored = stored
    this.#first = stored && { offset: stored.first, reason: stored.reason }
    this.#unloaded = (stored?.waiting ?? 0) - waiting.length
    this.#waiting = [...waiting]
  }

  /** The offset of the first parked event. */
  get first(): Offset | undefined {
    return this.#first?.offset
  }

  /** All parked events; to be asked only if all were loaded. */
  get offsets(): readonly Offset[] {
    return this.#first === undefined ? [] : [this.#first.offset, ...this.#waiting]
  }

  park(offset: Offset, reason: string): void {
    this.#isChanged = true
    if (this.#first === undefined) this.#first = { offset, reason: stored(reason) }
    else this.#waiting.push(offset)
  }

  /** The first `count` parked events are parked no longer; the next one is the first, for this reason. */
  release(count: number, reason: string): void {
    const [first, ...waiting] = this.offsets.slice(count)
    this.#first = first === undefined ? undefined : { offset: first, reason: stored(reason) }
    this.#waiting = waiting
    this.#isChanged = true
  }

  addChanges(parked: TextEdits, waiting: TextEdits): void {
    if (!this.#isChanged) return
    const count = this.#unloaded + this.#waiting.length
    const [before, after] = [waitingChunks(this.#stored?.waiting ?? 0), waitingChunks(count)]
    const from = this.#unloaded / waitingPerChunk
    for (let chunk = from; chunk < after; chunk++) {
      const at = (chunk - from) * waitingPerChunk
      const offsets = this.#waiting.slice(at, at + waitingPerChunk)
      waiting.put.push([chunkId(this.#stream, chunk), encodeOffsets(offsets)])
    }
    for (let chunk = after; chunk < before; chunk++) waiting.removed.push(chunkId(this.#stream, chunk))
    if (this.#first !== undefined) {
      const { offset: first, reason } = this.#first
      const text = encodeParkedStream({
        stream: this.#stream,
        partition: this.#partition,
        first,
        waiting: count,
        reason,
      })
      parked.put.push([this.#stream, text])
    } else if (this.#stored !== undefined) parked.removed.push(this.#stream)
  }
}

/** Cut in front of a character that ends too late. */
function stored(reason: string): string {
  return reason
    .toWellFormed()
    .slice(0, reasonMax)
    .replace(/[\ud800-\udbff]$/, '')
}
