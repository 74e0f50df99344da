import type { Logger } from 'pino'
import type { Definition } from '../definition/definition.ts'
import { shownSchemas } from '../definition/event-schemas.ts'
import type { EventFeed, FeedQuery } from '../feed/event-feed.ts'
import type { Account } from '../feed/feed-batch.ts'
import { timeOfDay } from '../lib/clock.ts'
import { OutOfReachError, ServiceError } from '../lib/errors/errors.ts'
import { release } from '../lib/operating/release.ts'
import type { EventLog, Position } from '../log/event-log.ts'
import type { PublishedLog } from '../log/published-log.ts'
import { describeGenerations, type OpenedVersions } from '../operations/generations.ts'
import { discard, discardableAt, parkedStreamsIn, placeOf } from '../operations/parked.ts'
import { describePublished, fillingOf, problemsOf } from '../operations/published.ts'
import type { WorkOptions } from '../operations/read-models.ts'
import type { Lag } from '../projector/lag-meter.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { Stores } from '../read-models/shards.ts'
import type { NewFigures, Published, Result, Status } from './answers.ts'
import { Figures, sampleMs } from './figures.ts'
import { Jobs } from './jobs.ts'
import { Situation, type SituationSources } from './situation.ts'

export interface ConsoleOptions extends Pick<SituationSources, 'reads' | 'health' | 'warnings' | 'publishing'> {
  readonly definition: Definition
  /** What this process is called among several. */
  readonly processName: string
  readonly role: string
  readonly storage: OpenedVersions & {
    readonly log: EventLog
    readonly stores: Stores
    readonly group: string
    openPublished(): readonly PublishedLog[]
  }
  readonly readModel: Pick<ReadModel, 'load' | 'whenApplied'>
  readonly events: Pick<EventFeed, 'follow' | 'earlier'>
  readonly lag: { readonly lag: Lag }
  readonly traffic: ConstructorParameters<typeof Figures>[0]['traffic']
  /** Opens empty read models in a file. */
  readonly openScratch: (definition: Definition, file: string) => ReadModelStore
  readonly logger: Logger
}

const lookMs = 1000
/** How long what is published is not looked at again: that reads topics. */
const publishedMs = 3000
/** Most processes never need it, and all would start later for it. */
const loadWork = () => import('../operations/read-models.ts')
/** More streams with parked events are only counted. */
const parkedMax = 500
const differencesMax = 50

export type Console = ReturnType<typeof openConsole>

/** What the console shows of this process, of the log and of the read models; and what operators do there. */
export function openConsole(options: ConsoleOptions) {
  const { definition, storage, events, lag, traffic, logger } = options
  const { log, stores } = storage
  const now = () => timeOfDay().getTime()
  const startedAt = now()
  const figures = new Figures({ lag, traffic, now })
  const situation = new Situation({ ...options, log, now })
  const jobs = new Jobs(now, logger)
  let text = ''

  function look(): void {
    situation.look()
    text = ''
  }

  /** One text for all who look within a second. */
  function status(): string {
    if (text === '') text = JSON.stringify(described())
    return text
  }

  function described(): Status {
    const { service, kinds, schemas } = definition
    const types = shownSchemas(schemas).map(({ type }) => type)
    return {
      service: {
        title: service.title,
        kinds: kinds.map(({ home, nameOf }) => ({ noun: home.noun, prefix: nameOf('') })),
        types,
      },
      process: { name: options.processName, role: options.role, release, startedAt },
      problems: situation.problems,
      lag: lag.lag,
      job: jobs.last,
    }
  }

  function figuresAfter(number: number): NewFigures {
    return {
      everyMs: sampleMs,
      samples: figures.after(number),
      marks: figures.marks,
    }
  }

  const generations = shared(() => describeGenerations(definition, storage))
  const parked = shared(parkedStreamsIn(stores, parkedMax))
  /** The name of the process that projects each partition. */
  const projectors = shared(async () => Object.fromEntries(await log.ownersIn(storage.group)))

  const topics = storage.openPublished()
  /** From the topics, since other processes may publish. */
  const published = shared(async (): Promise<readonly Published[]> => {
    return (await describePublished(log, topics).catch(unlessAway)).map((each) => {
      const partitions = each.lanes.flatMap((lane) => lane.partitions)
      const sum = (of: (partition: (typeof partitions)[number]) => number) =>
        partitions.reduce((total, partition) => total + of(partition), 0)
      return {
        ...{ publisher: each.publisher, topics: each.topics, problems: problemsOf(each) },
        ...{ told: sum(({ told }) => told), lag: sum(({ lag }) => lag), waiting: sum(({ waiting }) => waiting) },
        filling: [...new Set(partitions.flatMap((partition) => fillingOf(each.publisher, partition) ?? []))],
        owners: [...new Set(each.lanes.flatMap(({ owner }) => owner ?? []))],
      }
    })
  }, publishedMs)

  /** The events that take effect behind what the read models show now: all before that are settled. */
  async function follow(query: Omit<FeedQuery, 'after'>, account: Account, signal: AbortSignal) {
    return await events.follow({ ...query, after: await shownUpTo() }, account, signal)
  }

  /** As of the last look; a log that has lost its end has less. */
  async function shownUpTo(): Promise<Position[]> {
    const ends = await log.endOffsets()
    if (lag.lag.status === 'unknown') throw new ServiceError('read_model_unavailable', `${lag.lag.reason}.`)
    return lag.lag.partitions.flatMap(({ partition, checkpoint }) => {
      const next = Math.min(checkpoint.next, ends[partition] ?? 0)
      return next > 0 ? [{ partition, offset: next - 1 }] : []
    })
  }

  async function discardOne(position: Position, reason: string, actor: string) {
    const event = await discardableAt(stores, placeOf(position))
    const isApplied = await discard(event, { definition, log, stores, logger, actor, reason })
    return { isApplied }
  }

  const works: Readonly<Record<'rebuild' | 'verify', (options: WorkOptions, actor: string) => Promise<Result>>> = {
    async rebuild(work, actor) {
      const { rebuildAll } = await loadWork()
      const isActive = (await rebuildAll(work, actor)) === 'activated'
      return { isGood: isActive, outcome: isActive ? 'The new generation has taken over.' : 'Interrupted.' }
    },
    async verify(work) {
      const { verdictOf, verifyAll } = await loadWork()
      const verification = await verifyAll(work, options.openScratch)
      const { differences, differenceCount } = verification
      const isGood = differenceCount === 0
      return { isGood, outcome: verdictOf(verification), differences: differences.slice(0, differencesMax) }
    },
  }

  function start(kind: keyof typeof works, actor: string) {
    const job = jobs.start(kind, actor, (update, signal) =>
      works[kind]({ definition, log, stores, logger, update, signal }, actor),
    )
    text = ''
    return job
  }

  const timers = [setInterval(look, lookMs), setInterval(() => figures.take(), sampleMs)].map((timer) => timer.unref())
  look()
  async function close(): Promise<void> {
    for (const timer of timers) clearInterval(timer)
    for (const each of topics) each.close()
    await jobs.close()
  }
  return {
    log,
    readModel: options.readModel,
    status,
    figuresAfter,
    generations,
    projectors,
    published,
    parked,
    follow,
    earlier: events.earlier.bind(events),
    discard: discardOne,
    start,
    close,
  }
}

function unlessAway(error: unknown): never {
  if (!(error instanceof OutOfReachError)) throw error
  throw new ServiceError('event_log_unavailable', 'Kafka does not tell what is published.', { cause: error })
}

/** Asks once for all who ask meanwhile, and for those who ask soon after an answer. */
function shared<T>(ask: () => Promise<T>, keptMs = 0): () => Promise<T> {
  let asking: Promise<T> | undefined
  const forget = () => {
    asking = undefined
  }
  return () => {
    asking ??= ask().then(
      (answer) => {
        if (keptMs === 0) forget()
        else setTimeout(forget, keptMs).unref()
        return answer
      },
      (error) => {
        forget()
        throw error
      },
    )
    return asking
  }
}
