import type { Logger } from 'pino'
import { issueKey } from '../api-keys/api-keys.ts'
import { readKeys } from '../api-keys/key-file.ts'
import { type KeyRing, openKeyRing } from '../api-keys/key-ring.ts'
import { AcknowledgedEvents } from '../commands/acknowledged-events.ts'
import { commandHandlers } from '../commands/execution.ts'
import { IdAllocator } from '../commands/id-allocator.ts'
import { IdBlocks } from '../commands/id-blocks.ts'
import type { Definition } from '../definition/definition.ts'
import { EventFeed } from '../feed/event-feed.ts'
import type { ApiServices } from '../http/app.ts'
import { InFlightLimit, RateLimit } from '../http/guards/key-limits.ts'
import { RequestTurns } from '../http/guards/request-turns.ts'
import { timeOfDay } from '../lib/clock.ts'
import { operatingScope } from '../lib/operating/operating-scope.ts'
import { ownCommand } from '../lib/operating/own-command.ts'
import type { Tracing } from '../lib/operating/tracing.ts'
import type { EventLog } from '../log/event-log.ts'
import { defaultLimits, GroupCommit } from '../log/group-commit.ts'
import type { Config } from './config.ts'
import { openReadSide, type TrackedShard } from './shards.ts'
import type { Storage } from './storage/storage.ts'

/** What serves the API in one process. */
export type Api = ReturnType<typeof startApi>

export function startApi(
  definition: Definition,
  config: Config,
  { log }: Storage,
  shards: readonly TrackedShard[],
  logger: Logger,
  tracing: Tracing | undefined,
) {
  const keys = openKeyRing({ path: config.apiKeysFile, given: config.apiKeys, now: timeOfDay, logger })
  const timeoutMs = config.appendTimeoutMs
  const appender = new GroupCommit(log, defaultLimits)
  const readSide = openReadSide(shards, log, definition.names)
  const { readModel } = readSide
  const collections = definition.resources.map(({ collection }) => collection)
  const blocks = new IdBlocks({ log, readModel, collections, logger })
  const ids = new IdAllocator(log, blocks)
  ids.prepare()
  const acknowledged = new AcknowledgedEvents({ log, readModel, ids, logger })
  const parts = { readModel, log, appender, ids, acknowledged, definition, now: timeOfDay, timeoutMs, tracing }
  const commands = commandHandlers(parts)
  const events = new EventFeed({ definition, log, readModel })
  const services: ApiServices = {
    definition,
    findKey: keys.findOrLook,
    isKeyValid: keys.isValid,
    readModel,
    commands,
    events,
    log,
    tracing,
    inFlight: new InFlightLimit(config.maxInFlightPerKey),
    turns: new RequestTurns(),
    rate: config.rate && new RateLimit(config.rate),
    topic: config.brokers?.kafka.topic ?? null,
  }
  async function close(): Promise<void> {
    await appender.close()
    blocks.close()
    await acknowledged.close()
    readSide.close()
    keys.close()
  }
  return { services, events, appender, acknowledged, readSide, keys, close }
}

/** Embedded mode works at once: a start without a file of keys issues one. */
export async function issueFirstKey(
  { service: { name }, scopes }: Definition,
  { brokers, apiKeysFile }: Config,
  keys: KeyRing,
  log: EventLog,
  logger: Logger,
): Promise<string | undefined> {
  if (keys.size > 0) return undefined
  if (brokers !== undefined || readKeys(apiKeysFile) !== undefined) {
    logger.warn(
      `there is no valid API key in ${apiKeysFile}: issue one with \`${ownCommand()} keys issue --name NAME\``,
    )
    return undefined
  }
  if ((await log.endOffsets()).some((end) => end > 0)) {
    logger.warn(
      `there is no ${apiKeysFile}, but there are events: keys issued before are refused until it is restored from a ` +
        'backup, and a new key is issued',
    )
  }
  const { key } = issueKey(
    apiKeysFile,
    { service: name, name: 'first start', scopes: [...scopes, operatingScope] },
    timeOfDay(),
  )
  keys.follow()
  return key
}
