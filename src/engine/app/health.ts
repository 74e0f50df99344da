import type { Check, Health } from '../http/routes/health.ts'
import type { Warning } from '../lib/operating/warning.ts'
import type { EventLog } from '../log/event-log.ts'
import { parkedIn } from '../projector/lag-meter.ts'
import type { PublisherState } from '../publishing/publisher.ts'
import type { IncompleteGenerations } from '../read-models/incomplete.ts'
import type { ReadModelStore } from '../read-models/ports/store.ts'
import { shardOf } from '../read-models/shards.ts'
import type { Tracker } from '../read-models/tracker.ts'
import type { LogOutput } from './log-output.ts'
import type { Publishing } from './publishing.ts'
import type { SettingFiles } from './setting-files.ts'
import type { Projectors, ReadSide, WatchedLag } from './shards.ts'

export interface HealthOptions {
  readonly log: Pick<EventLog, 'endOffsets' | 'logId' | 'undecodable' | 'warnings'>
  readonly shards: readonly {
    readonly tracker: Pick<Tracker, 'lastLook'>
    readonly store: Pick<ReadModelStore, 'warnings'>
    readonly incomplete: Pick<IncompleteGenerations, 'current'>
  }[]
  /** Undefined in a process that does not project. */
  readonly projectors: Pick<Projectors, 'state'> | undefined
  /** Undefined in a process that serves no API. */
  readonly reads: Pick<ReadSide, 'state'> | undefined
  readonly lag: Pick<WatchedLag, 'lag' | 'stalls'>
  /** Undefined in a process that publishes nothing. */
  readonly publishing: Pick<Publishing, 'states'> | undefined
  readonly output: Pick<LogOutput, 'warnings'>
  readonly settingFiles: Pick<SettingFiles, 'warnings'>
}

/**
 * Ready means that some request can be served. Reads continue while the log is unavailable, and some writes continue
 * while the read models are, so a process is unready only if both are unavailable, or until its read models have caught
 * up for the first time.
 * Not live means that a projector stalls although it could move. A batch that cannot be decoded, or read models that
 * were replaced and are incomplete again, also stop the projector, but a restart would not help, so the process stays
 * live.
 */
export function serviceHealth({
  log,
  shards,
  projectors,
  reads,
  lag: watched,
  publishing,
  output,
  settingFiles,
}: HealthOptions): Health {
  let caughtUp = false

  async function eventLogCheck(): Promise<Check> {
    const warnings = warningDetails(log.warnings)
    try {
      return { status: 'up', logId: log.logId, endOffsets: await log.endOffsets(), ...warnings }
    } catch (error) {
      return { status: 'down', reason: reasonOf(error), ...warnings }
    }
  }

  function readModelsCheck(): Check {
    const warnings = warningDetails(shards.flatMap(({ store }) => store.warnings))
    if (reads !== undefined) return { ...reads.state, ...lagDetails(), ...warnings }
    try {
      const names = shards.map(({ tracker }) => tracker.lastLook.active?.name)
      const isIncomplete = shards.some(
        ({ incomplete }, shard) => incomplete.current !== undefined && incomplete.current === names[shard],
      )
      return {
        status: isIncomplete ? 'incomplete' : 'up',
        generation: names[0],
        ...(names.length > 1 && { shards: names }),
        ...lagDetails(),
        ...warnings,
      }
    } catch (error) {
      return { status: 'down', reason: reasonOf(error), ...warnings }
    }
  }

  /** Gives the reason if there is no lag: an unknown figure must not look like a good one. */
  function lagDetails(): Omit<Check, 'status'> {
    const { lag } = watched
    if (lag.status === 'unknown') return { lag: 'unknown', lagUnknown: lag.reason }
    const behind = lag.partitions.map(({ partition, events, seconds }) => ({ partition, events, seconds }))
    return { lag: behind, parked: parkedIn(lag.partitions) }
  }

  function undecodableDetails(): Omit<Check, 'status'> {
    return log.undecodable.length === 0 ? {} : { undecodable: log.undecodable }
  }

  function movingStatus(): string {
    if (log.undecodable.length > 0) return 'undecodable'
    return shards.some(({ incomplete }) => incomplete.current !== undefined) ? 'incomplete' : 'ok'
  }

  /** Whether no restart can have the projector get on with the partition. */
  function isStuck(partition: number): boolean {
    const { incomplete } = shards[shardOf(partition, shards.length)] ?? {}
    return incomplete?.current !== undefined || log.undecodable.some((batch) => batch.partition === partition)
  }

  return {
    live() {
      const { stalls } = watched
      if (stalls === undefined) return { live: true, checks: {} }
      const curable = stalls.filter(({ partition }) => !isStuck(partition))
      const live = curable.length === 0
      const state = live ? { status: movingStatus() } : { status: 'stalled', partitions: curable }
      return { live, checks: { projector: { ...state, ...undecodableDetails() } } }
    },

    async ready() {
      const eventLog = await eventLogCheck()
      const readModels = readModelsCheck()
      caughtUp ||= (reads ?? projectors)?.state.status === 'up'
      const serving = eventLog.status === 'up' || readModels.status === 'up' || readModels.status === 'degraded'
      const projector = projectors && { projector: { ...projectors.state, ...undecodableDetails() } }
      // These two are in the way of no request.
      const logOutput = output.warnings.length > 0 && {
        logOutput: { status: 'down', ...warningDetails(output.warnings) },
      }
      const settings = settingFiles.warnings.length > 0 && {
        settings: { status: 'unreadable', ...warningDetails(settingFiles.warnings) },
      }
      const others = { ...publishingCheck(publishing?.states), ...logOutput, ...settings }
      const checks = { eventLog, readModels, ...projector, ...others }
      return { ready: caughtUp && serving, checks }
    },
  }
}

/** It is in the way of no request, so it makes no process unready. */
function publishingCheck(states: readonly PublisherState[] | undefined): { publishing?: Check } {
  if (states === undefined) return {}
  const publishers = states.map(({ publisher, failure, lanes, warnings }) => {
    const still = lanes.flatMap(({ lane, failure: reason }) => (reason === undefined ? [] : { lane, reason }))
    return { publisher, failure, lanes: lanes.map(({ lane }) => lane), still, ...warningDetails(warnings) }
  })
  const isUp = publishers.every(({ failure, still }) => failure === undefined && still.length === 0)
  return { publishing: { status: isUp ? 'up' : 'waiting', publishers } }
}

function warningDetails(warnings: readonly Warning[]): Omit<Check, 'status'> {
  return warnings.length === 0 ? {} : { warnings }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
