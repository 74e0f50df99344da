import { setTimeout as delay } from 'node:timers/promises'
import { within } from '../brokers/ready.ts'
import { type Contradiction, contradiction, type History } from '../judge/history.ts'
import { Prefixes } from '../judge/prefixes.ts'
import { Random } from '../lib/random.ts'
import { Clients } from './clients.ts'
import { caughtUp, documented, followed, published } from './end-of-run.ts'
import type { Fault, Lane, Occasion } from './faults/fault.ts'
import { Followers } from './followers.ts'
import { type FaultSummary, Journal } from './journal.ts'
import { contradictionsOf, healed, servedAgain, verified } from './oracle.ts'
import { Recorder } from './recorder.ts'
import { removeLeftoversOfClocks } from './system/clock.ts'
import { apiKey, type Scenario, type Setting, type StartScenario } from './system/scenario.ts'

const clientCount = 12
const followerCount = 2
const recoveryMs = 120_000
/** How many requests are answered 2xx while a brief fault lasts, if that is within the time. */
const brief = { served: 60, withinMs: 1000 }

export interface TrialOptions extends Omit<Setting, 'context'> {
  /** What the load is drawn from. */
  readonly seed: number
  /** How long each client pauses between two requests, on average. */
  readonly thinkMs: number
}

export interface Outcome {
  readonly faults: FaultSummary[]
  readonly faultCount: number
  /** That the judge looked at. */
  readonly answers: number
  readonly contradictions: readonly Contradiction[]
  /** Records of several events that took effect. */
  readonly severals: number
  /** One for each time between losses of the log. */
  readonly histories: readonly History[]
}

/** A scenario under a load. What it starts ends with `stack`. */
export async function startTrial(
  stack: AsyncDisposableStack,
  start: StartScenario,
  { seed, thinkMs, ...setting }: TrialOptions,
): Promise<Trial> {
  stack.defer(removeLeftoversOfClocks)
  const journal = new Journal()
  const recorder = new Recorder((exchange) => journal.answered(exchange))
  const oracle = new Oracle(recorder)
  const context = {
    wrong: (what: string) => oracle.found([contradiction('a fault told of it', what)]),
    beforeLoss: async () => void (await oracle.compare(running)),
    afterLoss: async () => {
      await untilVerified(running)
      for (const each of [clients, followers]) each.beginAnew()
      oracle.beginAnew()
    },
    whileOthersRead: async (work: () => Promise<void>) => {
      await clients.onlyRead().catch(() => {}) // other faults may keep some from it
      await work().finally(() => clients.write())
    },
  }
  const running = await start(stack, { ...setting, context })
  await Promise.all(running.services.map((service) => service.untilReady()))
  const random = new Random(seed)
  const options = { recorder, instances: running.apis, apiKey, random }
  const clients = new Clients({ ...options, workload: running.served.newWorkload(random), thinkMs }, clientCount)
  const followers = new Followers({ ...options, random: new Random(seed * 100 + 98) }, followerCount)
  const trial = new Trial({ running, journal, recorder, oracle, clients, followers })
  stack.defer(() => trial.stop())
  return trial
}

interface Parts {
  readonly running: Scenario
  readonly journal: Journal
  readonly recorder: Recorder
  readonly oracle: Oracle
  readonly clients: Clients
  readonly followers: Followers
}

/** Faults are inflicted, one alone or several at once; at the end every answer is compared with the log. */
export class Trial {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  get running(): Scenario {
    return this.#parts.running
  }

  get lanes(): readonly Lane[] {
    return this.running.lanes
  }

  /** So far. */
  get contradictions(): readonly Contradiction[] {
    return this.#parts.oracle.contradictions
  }

  /** Then everything has to be served again. Resolves to whether it happened. */
  async alone(fault: Fault, occasion: Occasion): Promise<boolean> {
    const { running, journal, recorder, oracle } = this.#parts
    return await journal.during(fault, true, async () => {
      const happened = await fault.inflict(occasion)
      oracle.found(await servedAgain(running, recorder, `'${fault.kind}'`))
      return happened
    })
  }

  async besideOthers(fault: Fault, occasion: Occasion): Promise<void> {
    await this.#parts.journal.during(fault, false, () => fault.inflict(occasion))
  }

  /** As `alone`, on a system of which clients only read, until they can. */
  async whileNobodyWrites(fault: Fault, occasion: Occasion): Promise<boolean> {
    const { clients } = this.#parts
    await clients.onlyRead()
    try {
      const happened = await fault.inflict(occasion)
      await this.#someServed(brief.served, recoveryMs)
      return happened
    } finally {
      clients.write()
    }
  }

  /** A fault without another one that lasts as long as it has to, and until some were served meanwhile. */
  briefly(random: Random): Occasion {
    return {
      random,
      isAlone: true,
      last: async (leastMs) => {
        await Promise.all([delay(leastMs), this.#someServed(brief.served, leastMs + brief.withinMs)])
      },
    }
  }

  async stop(): Promise<void> {
    const { clients, followers } = this.#parts
    await Promise.allSettled([clients.stop(), followers.stop()])
  }

  /** After the last fault. */
  async end(): Promise<Outcome> {
    const { running, journal, recorder, oracle, clients, followers } = this.#parts
    oracle.found(await healed(running, recorder))
    await Promise.all([clients.stop(), followers.stop()])
    for (const found of await Promise.all([caughtUp(running), followed(running, recorder)])) oracle.found(found)
    const history = await oracle.compare(running, { isEnd: true })
    oracle.found(await published(running, history)) // after a loss this is what makes the topics anew
    oracle.found(await documented(running, history))
    const ends = running.services.flatMap(({ endedBadly }) => endedBadly)
    oracle.found(ends.map((end) => contradiction('a process ended by itself, or not when it was told to', end)))
    if (journal.faults === 0) oracle.found([contradiction('nothing happened', 'No fault was inflicted.')])
    const { contradictions, histories, severals } = oracle
    return {
      faults: journal.summary(),
      faultCount: journal.faults,
      answers: histories.reduce((sum, { exchanges }) => sum + exchanges.length, 0),
      severals,
      contradictions,
      histories,
    }
  }

  async #someServed(count: number, withinMs: number): Promise<void> {
    const { journal } = this.#parts
    const goal = journal.served + count
    await within(withinMs, async () => journal.served >= goal)
  }
}

/** After a loss other faults go on, so it takes as long as they let it. */
async function untilVerified(scenario: Scenario): Promise<void> {
  const [found] = await verified(scenario, performance.now() + recoveryMs)
  if (found !== undefined) throw new Error(`two minutes after a loss, ${found.rule}: ${found.what}`)
}

/** Compares what was answered with the log, as often as the log is about to lose something, and at the end. */
class Oracle {
  readonly histories: History[] = []
  readonly contradictions: Contradiction[] = []
  severals = 0
  readonly #recorder: Recorder

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  found(contradictions: readonly Contradiction[]): void {
    this.contradictions.push(...contradictions)
  }

  /** All that was answered before the log is read. */
  async compare({ readLog, partitions, served }: Scenario, { isEnd = false } = {}): Promise<History> {
    const nowMs = performance.now()
    const exchanges = this.#recorder.exchanges.filter(({ answeredMs }) => answeredMs < nowMs)
    const history = { log: await readLog(), exchanges, service: served.name }
    this.found(contradictionsOf(history, partitions, isEnd && this.histories.length === 0))
    this.histories.push(history)
    const prefixes = new Prefixes(history, partitions)
    const own = prefixes.effects.filter(({ record }) => prefixes.isOfHistory(record))
    this.severals += own.filter(({ type }) => type.endsWith('.Several.v1')).length
    return history
  }

  beginAnew(): void {
    this.#recorder.forget()
  }
}
