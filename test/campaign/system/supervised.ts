import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endWithThisProcess } from '../../brokers/processes.ts'
import { freePort, until, within } from '../../brokers/ready.ts'
import { Clock } from './clock.ts'

const main = join(import.meta.dirname, '../../../src/main.ts')
const pauseBeforeRestartMs = 200
const startMs = 5000
/** The library looks at the time once a second, and the process keeps the date of its answers for another one. */
const clockSeenMs = 5000
const hourMs = 3_600_000

/** A start that waited 30 s for brokers in vain, or that found a Redis which may evict keys. */
const refusedStart =
  /^petstore: (Kafka at .+ has not answered properly for|Redis at .+ (did not answer for|has maxmemory-policy)) /m

export interface SupervisedOptions {
  readonly name: string
  readonly environment: Readonly<Record<string, string>>
  /** For its output and its clock. */
  readonly folder: string
  /** What it writes before an end that the scenario is meant to bring about. */
  readonly endsAfter?: RegExp
}

/** A process of the service, which is started again whenever it ends, as an orchestrator would. */
export class Supervised {
  readonly name: string
  readonly url: string
  readonly #environment: Readonly<Record<string, string>>
  readonly #outputFile: string
  readonly #endsAfter: RegExp | undefined
  readonly #clock: Clock
  readonly #toldToEnd = new WeakSet<ChildProcess>()
  readonly #endedByThemselves: string[] = []
  /** Undefined between two starts. */
  #child: ChildProcess | undefined
  #lastWords = ''
  #starts = 0
  #isStopped = false

  private constructor({ name, environment, folder, endsAfter }: SupervisedOptions, port: number) {
    this.name = name
    this.url = `http://127.0.0.1:${port}`
    this.#outputFile = join(folder, `${name}.log`)
    this.#endsAfter = endsAfter
    this.#clock = new Clock(join(folder, `${name}.clock`))
    const { PATH = '' } = process.env
    this.#environment = { PATH, PORT: String(port), ...this.#clock.environment, ...environment }
  }

  static async start(options: SupervisedOptions): Promise<Supervised> {
    const supervised = new Supervised(options, await freePort())
    void supervised.#keepRunning()
    return supervised
  }

  /** The process that runs now, with the count of its starts. */
  get instance(): string {
    return `${this.name}#${this.#starts}`
  }

  /** Ends that nobody asked for and that are not by design: each with the last lines of what the process wrote. */
  get endedByThemselves(): readonly string[] {
    return this.#endedByThemselves
  }

  /** All that the last process wrote that ended by itself. */
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

  /** Resolves to whether there was one. */
  async pause(): Promise<boolean> {
    return (await this.#started())?.kill('SIGSTOP') ?? false
  }

  resume(): void {
    this.#child?.kill('SIGCONT')
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
  async remove(): Promise<void> {
    this.#isStopped = true
    if (this.#child !== undefined) await this.#gone(this.#child, 'SIGKILL')
  }

  /** The one that runs, or is started soon. */
  async #started(): Promise<ChildProcess | undefined> {
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
    while (!this.#isStopped) {
      const output = openSync(this.#outputFile, 'a')
      const written = statSync(this.#outputFile).size
      this.#starts++
      const child = spawn(process.execPath, [main], {
        env: this.#environment,
        stdio: ['ignore', output, output],
        detached: true, // Ctrl-C in the terminal reaches the campaign alone
      })
      closeSync(output)
      endWithThisProcess(child)
      this.#child = child
      child.once('exit', (code, how) => {
        this.#child = undefined
        if (!this.#toldToEnd.has(child)) this.#endedByItself(`${how ?? `code ${code}`}`, written)
      })
      await once(child, 'exit')
      await delay(pauseBeforeRestartMs)
    }
  }

  #endedByItself(how: string, written: number): void {
    const text = readFileSync(this.#outputFile).subarray(written).toString()
    this.#lastWords = text
    if (refusedStart.test(text) || this.#endsAfter?.test(text)) return
    this.#endedByThemselves.push(`${this.instance}, ${how}: ${text.slice(-2000)}`)
  }

  async #gone(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.#toldToEnd.add(child)
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
}
