import { closeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Program, runProgram } from '../../brokers/program.ts'
import { freePort, until, within } from '../../brokers/ready.ts'
import { petstore, type Served } from '../served.ts'
import { Clock } from './clock.ts'
import { type OutputOptions, ProcessOutput } from './process-output.ts'
import { inspectable, whereItStands } from './where-it-stands.ts'

const pauseBeforeRestartMs = 200
const startMs = 5000
/** The library looks at the time once a second, and the process keeps the date of its answers for another one. */
const clockSeenMs = 5000
const hourMs = 3_600_000
/** The service gives itself 9.5 s. It may stand still before. */
const endMs = 30_000

/** A start that waited 30 s for brokers in vain, or that found a Redis which may evict keys. */
const refusedStart =
  /^(petstore|library): (Kafka at .+ has not answered properly for|Redis at .+ (did not answer for|is still loading|has maxmemory-policy)) /m

export interface SupervisedOptions extends OutputOptions {
  /** By default the pet store. */
  readonly served?: Served
  readonly environment: Readonly<Record<string, string>>
  /** What it writes before an end that the scenario is meant to bring about. */
  readonly endsAfter?: RegExp
  /** It writes that to its log, which may be full. */
  readonly logsItsEnd?: boolean
}

/** A process of the service, which is started again whenever it ends, as an orchestrator would. */
export class Supervised {
  readonly name: string
  readonly url: string
  readonly output: ProcessOutput
  readonly #environment: Readonly<Record<string, string>>
  readonly #endsAfter: RegExp | undefined
  readonly #logsItsEnd: boolean
  readonly #clock: Clock
  readonly #main: string
  readonly #toldToEnd = new WeakSet<Program>()
  readonly #endedBadly: string[] = []
  /** Undefined between two starts. */
  #child: Program | undefined
  #lastWords = ''
  #ownEnds = 0
  #starts = 0
  #isStopped = false
  /** Pending while it must not be started. */
  #held: Promise<void> | undefined

  private constructor(
    { name, served = petstore, environment, folder, endsAfter, logsItsEnd = false }: SupervisedOptions,
    output: ProcessOutput,
    port: number,
  ) {
    this.name = name
    this.url = `http://127.0.0.1:${port}`
    this.output = output
    this.#main = served.main
    this.#endsAfter = endsAfter
    this.#logsItsEnd = logsItsEnd
    this.#clock = new Clock(join(folder, `${name}.clock`))
    const common = { PORT: String(port), LOG_REQUESTS: 'true' } // so that a full disk of the log has an effect
    this.#environment = { ...common, ...this.#clock.environment, ...environment }
  }

  /** It ends with `stack`. */
  static async start(stack: AsyncDisposableStack, options: SupervisedOptions): Promise<Supervised> {
    const output = await ProcessOutput.make(stack, options)
    const supervised = new Supervised(options, output, await freePort())
    stack.defer(() => supervised.#remove())
    void supervised.#keepRunning()
    return supervised
  }

  /** The process that runs now, with the count of its starts. */
  get instance(): string {
    return `${this.name}#${this.#starts}`
  }

  /**
   * Ends that nobody asked for and that are not by design, and those that did not come when they were asked for: each with
   * the last lines of what the process wrote.
   */
  get endedBadly(): readonly string[] {
    return this.#endedBadly
  }

  /** How many processes ended by themselves. */
  get ownEnds(): number {
    return this.#ownEnds
  }

  /** All that the last of those wrote. */
  get lastWords(): string {
    return this.#lastWords
  }

  /** Resolves to whether all is served. */
  async isReady(): Promise<boolean> {
    return (await this.#readiness())?.ok ?? false
  }

  async untilReady(timeoutMs = 60_000): Promise<void> {
    await until(`${this.name} is ready`, timeoutMs, () => this.isReady())
  }

  /** Resolves once it is gone, to whether there was one; it is started again. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<boolean> {
    const child = await this.#started()
    if (child === undefined) return false
    await this.#gone(child, signal)
    return true
  }

  /** Ends it. It is started again once what is returned is called: an operator is at work on what it needs. */
  async hold(): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    if (this.#child !== undefined) await this.#gone(this.#child, 'SIGKILL')
    return () => {
      this.#held = undefined
      resolve()
    }
  }

  /** Resolves to whether there was one. */
  async pause(): Promise<boolean> {
    return (await this.#started())?.signal('SIGSTOP') ?? false
  }

  resume(): void {
    this.#child?.signal('SIGCONT')
  }

  /** Hours before or behind the true time. Resolves to whether the process tells that time. */
  async setClock(hours: number): Promise<boolean> {
    this.#clock.set(hours)
    return await within(clockSeenMs, async () => {
      const date = await this.#date()
      return date !== undefined && Math.abs((date - Date.now()) / hourMs - hours) < 0.1
    })
  }

  /** Ends it for good. */
  async #remove(): Promise<void> {
    this.#isStopped = true
    if (this.#child !== undefined) await this.#gone(this.#child, 'SIGKILL')
  }

  /** The one that runs, or is started soon. */
  async #started(): Promise<Program | undefined> {
    await within(startMs, async () => this.#child !== undefined)
    return this.#child
  }

  /** When its last answer was, by its own clock. */
  async #date(): Promise<number | undefined> {
    const answer = await this.#readiness()
    return answer && Date.parse(answer.headers.get('date') ?? '')
  }

  async #readiness(): Promise<Response | undefined> {
    return await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
  }

  async #keepRunning(): Promise<void> {
    for (;;) {
      while (this.#held !== undefined) await this.#held
      if (this.#isStopped) return
      const output = this.output.open()
      this.#starts++
      const [log, errors] = output
      const options = { output: log, errors, detached: true } // Ctrl-C in the terminal reaches the campaign alone
      const child = runProgram([process.execPath, inspectable, this.#main], this.#environment, options)
      for (const file of output) closeSync(file)
      this.#child = child
      const how = await child.ended
      this.#child = undefined
      if (!this.#toldToEnd.has(child)) this.#endedByItself(typeof how === 'number' ? `code ${how}` : `${how}`)
      await delay(pauseBeforeRestartMs)
    }
  }

  #endedByItself(how: string): void {
    const { text, wasFull } = this.output
    this.#lastWords = text
    this.#ownEnds++
    if (refusedStart.test(text) || this.#endsAfter?.test(text)) return
    if (this.#logsItsEnd && wasFull) return
    this.#endedBadly.push(`${this.instance}, ${how}: ${text.slice(-2000)}`)
  }

  async #gone(child: Program, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#toldToEnd.add(child)
    const ended = child.end(signal)
    const timer = setTimeout(async () => {
      const where = await whereItStands(child.pid, () => this.output.text).catch(String)
      this.#endedBadly.push(`${this.instance} did not end within ${endMs} ms of ${signal}: ${where}`)
      child.signal('SIGKILL')
    }, endMs)
    await ended
    clearTimeout(timer)
  }
}
