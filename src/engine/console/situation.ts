import type { Check, Health } from '../http/routes/health.ts'
import type { Warning } from '../lib/operating/warning.ts'
import type { EventLog } from '../log/event-log.ts'
import type { RunbookHeading } from '../operations/runbook.ts'
import { type Lag, parkedIn } from '../projector/lag-meter.ts'
import type { Problem } from './answers.ts'

type Found = Omit<Problem, 'since'> & { readonly runbook: RunbookHeading }

export interface SituationSources {
  readonly lag: { readonly lag: Lag }
  readonly log: Pick<EventLog, 'warnings'>
  readonly reads: { readonly state: Check }
  readonly health: Pick<Health, 'live'>
  /** Those of what the process writes to: read models and output. */
  readonly warnings: () => readonly Warning[]
  /** Those of the publishers of this process. */
  readonly publishing: () => readonly Warning[]
  readonly now: () => number
}

/** For how long the read models may be behind before that is a problem. */
const behindSeconds = 10

/** What is wrong now, and since when. It asks neither log nor read models: all of it is known from their last look. */
export class Situation {
  readonly #sources: SituationSources
  #problems: readonly Problem[] = []

  constructor(sources: SituationSources) {
    this.#sources = sources
  }

  /** As of the last `look`. */
  get problems(): readonly Problem[] {
    return this.#problems
  }

  /** Call it every second. */
  look(): void {
    const since = new Map(this.#problems.map((problem) => [problem.code, problem.since]))
    const now = this.#sources.now()
    this.#problems = problemsIn(this.#sources).map((found) => ({ ...found, since: since.get(found.code) ?? now }))
  }
}

function problemsIn({ lag: { lag }, log, reads, health, warnings, publishing }: SituationSources): Found[] {
  const { checks } = health.live()
  return [
    ...partsAway(lag),
    ...readModelsProblems(reads.state, lag),
    ...projectorProblems(checks.projector),
    ...lagProblems(lag),
    ...[...log.warnings, ...warnings()].map((warning) => warned(warning, 'When something is wrong')),
    ...publishing().map((warning) => warned(warning, 'Publishing stands still')),
  ]
}

function warned({ code, message }: Warning, runbook: RunbookHeading): Found {
  return { code: `${code} ${message}`, what: message, remedy: '', runbook }
}

function partsAway(lag: Lag): Found[] {
  if (lag.status === 'known') return []
  const log: Found = {
    code: 'log_away',
    what: `The event log does not answer: ${lag.reason}`,
    remedy: 'Writes are refused, and reads go on. Look at the brokers, or at the disk of the data folder.',
    runbook: 'What keeps working during a fault',
  }
  const readModels: Found = {
    code: 'read_models_away',
    what: `The read models do not answer: ${lag.reason}`,
    remedy: 'Reads are refused, and new things can still be added. Look at Redis, or at the disk of the data folder.',
    runbook: 'What keeps working during a fault',
  }
  return [...(lag.logAnswers === false ? [log] : []), ...(lag.readModelsAnswer === false ? [readModels] : [])]
}

const readStates: Readonly<Record<string, Omit<Found, 'code'>>> = {
  rebuilding: {
    what: 'The read models are being filled from the log.',
    remedy: 'Reads are refused until they have caught up. That needs a projector, and time.',
    runbook: 'What keeps working during a fault',
  },
  incomplete: {
    what: 'The read models lost something that was put into them, again.',
    remedy: 'Reads of it are refused. Find what removes data from Redis, then rebuild.',
    runbook: 'Incomplete read models',
  },
  degraded: {
    what: 'Some shards of the read models cannot be read.',
    remedy: 'Look at the Redis nodes that hold them.',
    runbook: 'Scaling',
  },
}

function readModelsProblems({ status }: Check, lag: Lag): Found[] {
  const state = readStates[status]
  if (state === undefined || (lag.status === 'unknown' && lag.readModelsAnswer === false)) return []
  return [{ code: `read_models_${status}`, ...state }]
}

const projectorStates: typeof readStates = {
  stalled: {
    what: 'The projector of this process stands still, though log and read models answer.',
    remedy: 'Restart the process.',
    runbook: 'A stalled projector',
  },
  undecodable: {
    what: 'The log has records that cannot be decoded, and what is behind them in the partition waits.',
    remedy: 'See which ones in the list of partitions.',
    runbook: 'A batch that cannot be decoded',
  },
}

function projectorProblems(projector: Check | undefined): Found[] {
  const state = projectorStates[projector?.status ?? '']
  return state === undefined ? [] : [{ code: `projector_${projector?.status}`, ...state }]
}

function lagProblems(lag: Lag): Found[] {
  if (lag.status === 'unknown') return []
  const seconds = Math.max(0, ...lag.partitions.map((each) => each.seconds))
  const count = parkedIn(lag.partitions)
  const behind: Found = {
    code: 'behind',
    what: `The read models are ${Math.round(seconds)} seconds behind the log.`,
    remedy: 'See in the pipeline which partition it is, and whether a projector has it.',
    runbook: 'When something is wrong',
  }
  const parked: Found = {
    code: 'parked',
    what: `${count} ${count === 1 ? 'event is' : 'events are'} parked.`,
    remedy: 'They could not be applied, and wait for a decision: see Parked.',
    runbook: 'Parked events',
  }
  return [...(seconds > behindSeconds ? [behind] : []), ...(count > 0 ? [parked] : [])]
}
