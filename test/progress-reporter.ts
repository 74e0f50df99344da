import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node'
import { brokerSource } from './brokers/brokers.ts'

/** What a file takes that has not run here yet, and one that is skipped for lack of brokers. */
const secondsOf: Readonly<Record<string, number>> = { unit: 0.3, 'unit-alone': 10, int: 9, e2e: 13, long: 75 }
const skippedSeconds = 0.5
const quietSeconds = 45
const everyMs = 30_000

/** Tells whoever waits for the tests what is about to run, how long that takes here, and how far it is. */
export default class ProgressReporter implements Reporter {
  #vitest: Vitest | undefined
  readonly #left = new Map<string, number>()
  #total = 0
  #files = 0
  #startedMs = 0
  #timer: NodeJS.Timeout | undefined

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  async onTestRunStart(specifications: readonly TestSpecification[]): Promise<void> {
    const needsBrokers = specifications.some(({ project }) => !isUnit(project.name))
    const source = needsBrokers ? await brokerSource() : 'none'
    for (const each of specifications) this.#left.set(nameOf(each), this.#secondsOf(each, source === 'none'))
    this.#total = this.#secondsLeft
    this.#files = specifications.length
    this.#startedMs = performance.now()
    if (this.#total < quietSeconds) return
    const kinds = Map.groupBy(specifications, ({ project }) => project.name)
    const counts = [...kinds].map(([kind, { length }]) => `${length} ${kind}`)
    const brokers = source === 'none' ? 'without brokers' : `on Kafka and Redis (${source})`
    say(`files: ${counts.join(', ')}, ${brokers}; about ${minutes(this.#total)} here`)
    this.#timer = setInterval(() => this.#tell(), everyMs).unref()
  }

  onTestModuleEnd(module: TestModule): void {
    this.#left.delete(nameOf(module))
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer)
  }

  get #secondsLeft(): number {
    return [...this.#left.values()].reduce((sum, each) => sum + each, 0)
  }

  /** What it took the last time, where Vitest remembers it. Two files run at a time. */
  #secondsOf(specification: TestSpecification, hasNoBrokers: boolean): number {
    const { name } = specification.project
    const last = this.#vitest?.cache.getTestSpecificationResult(specification)
    const seconds = last ? last.duration / 1000 : (secondsOf[name] ?? 1)
    return (hasNoBrokers && !isUnit(name) ? Math.min(seconds, skippedSeconds) : seconds) / 2
  }

  /** What is left takes as much longer than expected as what is done. */
  #tell(): void {
    const elapsed = (performance.now() - this.#startedMs) / 1000
    const left = this.#secondsLeft
    const done = this.#total - left
    const pace = done > this.#total / 20 ? elapsed / done : 1
    say(
      `${this.#files - this.#left.size} of ${this.#files} files after ${minutes(elapsed)}, about ${minutes(left * pace)} to go`,
    )
  }
}

function isUnit(project: string): boolean {
  return project.startsWith('unit')
}

function nameOf({ project, moduleId }: TestSpecification | TestModule): string {
  return `${project.name} ${moduleId}`
}

function minutes(seconds: number): string {
  return seconds < 90 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}

function say(what: string): void {
  process.stderr.write(`tests: ${what}\n`)
}
