import { hostname } from 'node:os'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { timeOfDay } from '../lib/clock.ts'
import type { Warning } from '../lib/operating/warning.ts'

/** What waits for a slow reader at most, in bytes. */
const waitingMax = 1024 ** 2
const retryMs = 1000

/**
 * Writes the lines of the log to a stream, such as standard output. A line that the stream does not take is lost and
 * counted: nothing fails because of it, and nothing waits for it. Once the stream works again, a line of its own says
 * how many were lost.
 */
export class LogOutput {
  readonly #stream: Writable
  #lost = 0
  #untold = 0
  /** Why lines are lost; undefined while the stream works. */
  #problem: string | undefined
  #retry: NodeJS.Timeout | undefined

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', () => {}) // each write hears of its own failure
  }

  get lost(): number {
    return this.#lost
  }

  get warnings(): readonly Warning[] {
    if (this.#problem === undefined) return []
    const remedy = 'Free some space, or start the process with an output that is read'
    const message = `The log cannot be written: ${this.#problem}. ${remedy}. Lines lost so far: ${this.#lost}`
    return [{ code: 'log_lines_lost', message }]
  }

  write(line: string): void {
    if (this.#untold > 0) this.#tellLost()
    this.#send(line, () => {
      this.#lost++
      this.#tellLater(1)
    })
  }

  /** Resolves once no line waits for the reader any more, or after `limitMs`. */
  async flush(limitMs: number): Promise<void> {
    const flushed = new Promise<void>((resolve) => this.#stream.write('', () => resolve()))
    await Promise.race([flushed, delay(limitMs)])
  }

  #send(text: string, failed: () => void): void {
    const done = (problem: string | undefined) => {
      this.#problem = problem
      if (problem !== undefined) failed()
    }
    if (this.#stream.writableLength > waitingMax) done('it is not read')
    else this.#stream.write(text, (error) => done(error?.message))
  }

  #tellLater(count: number): void {
    this.#untold += count
    this.#retry ??= setTimeout(() => this.#tellLost(), retryMs).unref()
  }

  #tellLost(): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    const lost = this.#untold
    this.#untold = 0
    // A line break first: when a disk gets full, the last line that it takes is cut short.
    this.#send(`\n${lostLine(lost)}\n`, () => this.#tellLater(lost))
  }
}

function lostLine(lost: number): string {
  const head = { level: 40, time: timeOfDay().getTime(), pid: process.pid, hostname: hostname() }
  return JSON.stringify({ ...head, lost, msg: 'lines of the log were lost here; the one before may be cut short' })
}
