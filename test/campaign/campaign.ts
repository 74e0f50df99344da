import { type Contradiction, contradiction, type History } from '../judge/history.ts'
import { Random } from '../lib/random.ts'
import { Clients } from './clients.ts'
import { caughtUp, followed } from './end-of-run.ts'
import { type Fault, last } from './faults/fault.ts'
import { Followers } from './followers.ts'
import { type FaultSummary, Journal } from './journal.ts'
import { contradictionsOf, healed, servedAgain, verified } from './oracle.ts'
import { Recorder } from './recorder.ts'
import * as onBrokers from './system/broker-scenarios.ts'
import { expectClocks, removeLeftoversOfClocks } from './system/clock.ts'
import { apiKey, embedded, type Scenario, type StartScenario } from './system/scenario.ts'
import { Workload } from './workload.ts'

export const scenarios = { embedded, ...onBrokers } satisfies Record<string, StartScenario>
export type ScenarioName = keyof typeof scenarios

const clientCount = 12
const thinkMs = 8
const followerCount = 2
const recoveryMs = 120_000
/** At most between two faults, of all or of a lane: long enough for clients to be served in between. */
const pauseMs = { alone: 3000, ofLane: 8000 }

export interface Run {
  readonly seed: number
  readonly scenario: ScenarioName
  readonly minutes: number
  /** For data, and the output of the processes. */
  readonly folder: string
}

export interface Outcome {
  readonly faults: FaultSummary[]
  readonly faultCount: number
  /** That the judge looked at. */
  readonly answers: number
  readonly contradictions: readonly Contradiction[]
  /** One for each time between losses of the log. */
  readonly histories: readonly History[]
}

/** One scenario under the faults of one seed, and what was untrue in it. What it starts ends with `stack`. */
export async function runCampaign(
  stack: AsyncDisposableStack,
  { seed, scenario, minutes, folder }: Run,
): Promise<Outcome> {
  stack.defer(removeLeftoversOfClocks)
  await expectClocks(folder)
  const journal = new Journal()
  const recorder = new Recorder((exchange) => journal.answered(exchange))
  const oracle = new Oracle(recorder)
  const running = await scenarios[scenario](stack, folder, {
    wrong: (what) => oracle.found([contradiction('a fault told of it', what)]),
    beforeLoss: () => oracle.compare(running),
    afterLoss: async () => {
      await untilVerified(running)
      for (const each of [clients, followers]) each.beginAnew()
      oracle.beginAnew()
    },
  })
  await Promise.all(running.services.map((service) => service.untilReady()))
  const random = new Random(seed)
  const options = { recorder, instances: running.apis, apiKey, random }
  const clients = new Clients({ ...options, workload: new Workload(random), thinkMs }, clientCount)
  const followers = new Followers({ ...options, random: new Random(seed * 100 + 98) }, followerCount)
  const over = new AbortController()
  stack.defer(async () => {
    over.abort()
    await Promise.allSettled([clients.stop(), followers.stop()])
  })
  const halfMs = minutes * 30_000
  const alone = { faults: running.lanes.flat(), ms: halfMs, over: over.signal, pauseMs: pauseMs.alone }
  await inTurn(alone, new Random(seed * 100 + 99), (fault, random) =>
    journal.during(fault, true, async () => {
      const happened = await fault.inflict(random, true)
      oracle.found(await servedAgain(running, recorder, `'${fault.kind}'`))
      return happened
    }),
  )
  await allLanesAtOnce(running, { ms: halfMs, over }, seed * 100, (fault, random) =>
    journal.during(fault, false, () => fault.inflict(random, false)),
  )
  oracle.found(await healed(running, recorder))
  await Promise.all([clients.stop(), followers.stop()])
  oracle.found(await caughtUp(running))
  oracle.found(await followed(running, recorder))
  await oracle.compare(running, { isEnd: true })
  const ends = running.services.flatMap(({ endedByThemselves }) => endedByThemselves)
  oracle.found(ends.map((end) => contradiction('a process ended by itself', end)))
  if (journal.faults === 0) oracle.found([contradiction('nothing happened', 'No fault was inflicted.')])
  const { contradictions, histories } = oracle
  return {
    faults: journal.summary(),
    faultCount: journal.faults,
    answers: histories.reduce((sum, { exchanges }) => sum + exchanges.length, 0),
    contradictions,
    histories,
  }
}

type Inflict = (fault: Fault, random: Random) => Promise<void>

/** How long faults begin, unless the run is over before. */
interface Time {
  readonly ms: number
  readonly over: AbortController
}

/** Throws once the last fault is put right, if any of them threw: nothing of this run may harm the next one. */
async function allLanesAtOnce({ lanes }: Scenario, { ms, over }: Time, seed: number, inflict: Inflict): Promise<void> {
  const ended = await Promise.allSettled(
    lanes.map(async (faults, lane) => {
      try {
        await inTurn({ faults, ms, over: over.signal, pauseMs: pauseMs.ofLane }, new Random(seed + lane), inflict)
      } catch (error) {
        over.abort()
        throw error
      }
    }),
  )
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}

interface Turns {
  readonly faults: readonly Fault[]
  readonly ms: number
  readonly over: AbortSignal
  readonly pauseMs: number
}

/** One fault after the other: each of them once, in an order that `random` draws, then again. */
async function inTurn({ faults, ms, over, pauseMs }: Turns, random: Random, inflict: Inflict): Promise<void> {
  const untilMs = performance.now() + ms
  for (;;) {
    for (const fault of random.shuffle(faults)) {
      await last(random, 1000, pauseMs)
      if (over.aborted || performance.now() > untilMs) return
      await inflict(fault, new Random(random.below(2 ** 32))) // however much it draws, the next fault is the same
    }
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
  readonly #recorder: Recorder

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  found(contradictions: readonly Contradiction[]): void {
    this.contradictions.push(...contradictions)
  }

  /** All that was answered before the log is read. */
  async compare({ readLog, partitions }: Scenario, { isEnd = false } = {}): Promise<void> {
    const nowMs = performance.now()
    const exchanges = this.#recorder.exchanges.filter(({ answeredMs }) => answeredMs < nowMs)
    const history = { log: await readLog(), exchanges }
    this.found(contradictionsOf(history, partitions, isEnd && this.histories.length === 0))
    this.histories.push(history)
  }

  beginAnew(): void {
    this.#recorder.forget()
  }
}
