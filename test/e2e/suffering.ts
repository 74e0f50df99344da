import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Occasion } from '../campaign/faults/fault.ts'
import { describeContradiction } from '../campaign/report.ts'
import { expectClocks } from '../campaign/system/clock.ts'
import { type KafkaSide, startKafka } from '../campaign/system/kafka-side.ts'
import { newFolder } from '../campaign/system/new-folder.ts'
import type { Scenario, StartScenario } from '../campaign/system/scenario.ts'
import { canMountSmall } from '../campaign/system/small-disk.ts'
import { startTrial, type Trial } from '../campaign/trial.ts'
import { Random } from '../lib/random.ts'

/** So that a fault outlasts them soon. */
const environment = { APPEND_TIMEOUT_MS: '2000', READ_MODEL_GRACE_SECONDS: '5' }

/** Leaves most of a machine with two cores to processes that start again: then a fault is over sooner. */
const thinkMs = 60

const canMount = await canMountSmall()
const canSetClocks = await expectClocks().then(
  () => true,
  () => false,
)

/** What this machine lacks for a fault of this kind. */
function lackingFor(kind: string): string | undefined {
  if (kind.startsWith('disk ') && !canMount) return 'needs root'
  if (kind.startsWith('clock ') && !canSetClocks) return 'needs libfaketime'
  return undefined
}

/** What the tests of a scenario do to it. */
export interface Suffering {
  readonly running: () => Scenario
  /** The fault happens without another one; then all is served again, and nothing was wrong. */
  readonly suffer: (kind: string, during?: Occasion['last']) => Promise<void>
  readonly sufferWhileNobodyWrites: (kind: string) => Promise<void>
}

/** A scenario under a load, which is started once for all tests of `suite`. At last its answers are compared with the log. */
export function describeScenario(
  name: string,
  start: StartScenario,
  suite: (suffering: Suffering) => void,
  kafka?: () => KafkaSide,
): void {
  describe(name, () => {
    const random = new Random(Date.now())
    const stack = new AsyncDisposableStack()
    let trial: Trial
    beforeAll(async () => {
      const shared = kafka && { kafka: kafka() }
      const setting = { folder: newFolder(stack), environment, canMount, thinkMs, ...shared }
      trial = await startTrial(stack, start, { ...setting, seed: random.below(2 ** 32) })
    })
    afterAll(() => stack.disposeAsync())

    /** A system that is broken already tells nothing of the next fault. */
    function expectNothingWrong(): void {
      expect(trial.contradictions.slice(0, 5).map(describeContradiction)).toEqual([])
    }
    function faultOf(kind: string) {
      expectNothingWrong()
      const fault = trial.running.lanes.flat().find((each) => each.kind === kind)
      if (fault === undefined) throw new Error(`no fault of this scenario: ${kind}`)
      return fault
    }

    suite({
      running: () => trial.running,
      suffer: async (kind, during) => {
        const occasion = trial.briefly(random)
        expect(await trial.alone(faultOf(kind), { ...occasion, last: during ?? occasion.last })).toBe(true)
        expectNothingWrong()
      },
      sufferWhileNobodyWrites: async (kind) => {
        expect(await trial.whileNobodyWrites(faultOf(kind), trial.briefly(random))).toBe(true)
        expectNothingWrong()
      },
    })

    it('and no answer contradicts the log', async () => {
      expect((await trial.end()).answers).toBeGreaterThan(200)
      expectNothingWrong()
    })
  })
}

/** A test for each kind. What this machine cannot do is skipped, but not in CI. */
export function eachAlone({ suffer }: Suffering, kinds: readonly string[]): void {
  for (const kind of kinds) {
    const lacking = lackingFor(kind)
    if (lacking === undefined || process.env.CI) it(kind, () => suffer(kind))
    else it.skip(`${kind} (${lacking})`)
  }
}

/** For all scenarios of a suite. */
export function beforeAllStartKafka(): () => KafkaSide {
  const stack = new AsyncDisposableStack()
  let kafka: KafkaSide
  beforeAll(async () => {
    kafka = await startKafka(stack, { folder: newFolder(stack), canMount })
  })
  afterAll(() => stack.disposeAsync())
  return () => kafka
}
