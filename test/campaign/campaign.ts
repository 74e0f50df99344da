import { Random } from '../lib/random.ts'
import { drawn, type Fault, type Lane } from './faults/fault.ts'
import type { Served } from './served.ts'
import * as onBrokers from './system/broker-scenarios.ts'
import { expectClocks } from './system/clock.ts'
import { embedded, type StartScenario } from './system/scenario.ts'
import { type Outcome, startTrial } from './trial.ts'

export const scenarios = { embedded, ...onBrokers } satisfies Record<string, StartScenario>
export type ScenarioName = keyof typeof scenarios

const thinkMs = 8
/** Between two faults of a lane: long enough for clients to be served in between. Alone, all is served after each. */
const pauses = { alone: { leastMs: 100, mostMs: 1000 }, ofLane: { leastMs: 1000, mostMs: 8000 } }

export const phases = ['alone', 'at-once'] as const
/** Faults one after the other, or those of all lanes at once. */
export type Phase = (typeof phases)[number]

export interface Run {
  readonly served: Served
  readonly seed: number
  readonly scenario: ScenarioName
  readonly minutes: number
  /** That share the minutes. */
  readonly phases: readonly Phase[]
  /** For data, and the output of the processes. */
  readonly folder: string
}

/** One scenario under the faults of one seed, and what was untrue in it. What it starts ends with `stack`. */
export async function runCampaign(stack: AsyncDisposableStack, run: Run): Promise<Outcome> {
  const { seed, scenario, minutes, folder, served } = run
  await expectClocks()
  const trial = await startTrial(stack, scenarios[scenario], { served, seed, folder, thinkMs, canMount: true })
  const over = new AbortController()
  stack.defer(() => over.abort())
  const ms = (minutes * 60_000) / run.phases.length
  if (run.phases.includes('alone')) {
    const alone = { faults: trial.lanes.flat(), ms, over: over.signal, pause: pauses.alone }
    await inTurn(alone, new Random(seed * 100 + 99), (fault, random) => trial.alone(fault, drawn(random, true)))
  }
  if (run.phases.includes('at-once')) {
    await allLanesAtOnce(trial.lanes, { ms, over }, seed * 100, (fault, random) =>
      trial.besideOthers(fault, drawn(random, false)),
    )
  }
  return await trial.end()
}

type Inflict = (fault: Fault, random: Random) => Promise<unknown>

/** How long faults begin, unless the run is over before. */
interface Time {
  readonly ms: number
  readonly over: AbortController
}

/** Throws once the last fault is put right, if any of them threw: nothing of this run may harm the next one. */
async function allLanesAtOnce(
  lanes: readonly Lane[],
  { ms, over }: Time,
  seed: number,
  inflict: Inflict,
): Promise<void> {
  const ended = await Promise.allSettled(
    lanes.map(async (faults, lane) => {
      try {
        await inTurn({ faults, ms, over: over.signal, pause: pauses.ofLane }, new Random(seed + lane), inflict)
      } catch (error) {
        over.abort()
        throw error
      }
    }),
  )
  for (const end of ended) if (end.status === 'rejected') throw end.reason
}

interface Turns {
  readonly faults: Lane
  readonly ms: number
  readonly over: AbortSignal
  readonly pause: typeof pauses.alone
}

/** One fault after the other: each of them once, in an order that `random` draws, then again. */
async function inTurn({ faults, ms, over, pause }: Turns, random: Random, inflict: Inflict): Promise<void> {
  const untilMs = performance.now() + ms
  for (;;) {
    for (const fault of random.shuffle(faults)) {
      await drawn(random, false).last(pause.leastMs, pause.mostMs)
      if (over.aborted || performance.now() > untilMs) return
      await inflict(fault, new Random(random.below(2 ** 32))) // however much it draws, the next fault is the same
    }
  }
}
