import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { ConsoleOptions } from '../console/console.ts'
import type { Definition } from '../definition/definition.ts'
import { type ApiServices, buildAdminApp, buildApp } from '../http/app.ts'
import { drain } from '../http/wire/server.ts'
import { Traffic } from '../http/wire/traffic.ts'
import { processName } from '../lib/operating/process-name.ts'
import { Tracing } from '../lib/operating/tracing.ts'
import { startRetention } from '../read-models/retention.ts'
import { type Api, issueFirstKey, startApi } from './api.ts'
import type { Config } from './config.ts'
import { connectionLimits } from './connection-limits.ts'
import { serviceHealth } from './health.ts'
import type { LogOutput } from './log-output.ts'
import { serviceMetrics } from './metrics.ts'
import { startPublishing } from './publishing.ts'
import { startProjectors, trackShards, watchLag } from './shards.ts'
import { openScratch } from './storage/files.ts'
import { openStorage, type Storage } from './storage/storage.ts'
import { ConfigError } from './variables.ts'

export interface RunningService {
  readonly url: string
  /** Finishes what is in flight. */
  close(): Promise<void>
  /** The key issued by this start, if it issued one. */
  readonly issuedKey: string | undefined
  /** Resolves once the event log has been replaced: the service must then be closed. */
  readonly logReplaced: Promise<void>
}

/**
 * How long a closing process still accepts connections, so that load balancers can notice and send new ones elsewhere.
 */
const unreadyMs = 500
/** How long it then keeps an idle connection. */
const idleMs = 500

/** Wires the parts together as configured, and starts them. `output` is where `logger` writes to. */
export async function startService(
  definition: Definition,
  config: Config,
  logger: Logger,
  output: Pick<LogOutput, 'lost' | 'warnings'>,
): Promise<RunningService> {
  config.settingFiles.tellTo(logger)
  const storage = await openStorage(definition, config, logger)
  const { app, admin, api, ...opened } = await openService(definition, config, storage, logger, output)
  const { host, port, adminPort } = config
  if (admin !== undefined) await listen(admin, 'ADMIN_PORT', host, adminPort ?? 0)
  const url = await listen(app, 'PORT', host, port)
  const issuedKey = api && (await issueFirstKey(definition, config, api.keys, storage.log, logger))

  /** Finishes what is in flight, then closes the parts. */
  async function close(): Promise<void> {
    opened.beginClosing()
    await delay(unreadyMs)
    await opened.close(() => drain(app.server, idleMs))
  }
  return { url, issuedKey, logReplaced: storage.log.replaced, close }
}

/** A service at work that nobody can connect to yet. It closes `storage` too. */
export async function openService(
  definition: Definition,
  config: Config,
  storage: Storage,
  logger: Logger,
  output: Pick<LogOutput, 'lost' | 'warnings'>,
) {
  const shards = trackShards(storage, logger)
  const tracing = Tracing.find(definition.service.name, config.brokers?.kafka.topic)
  const projectors =
    config.role === 'api' ? undefined : await startProjectors(definition, shards, storage.group, logger, tracing)
  const generations = storage.stores.map((store) => store.generations)
  const stopRetention = startRetention(generations, {
    logId: storage.log.logId,
    versions: storage.versions,
    graceMs: config.readModelGraceSeconds * 1000,
    prunes: projectors !== undefined,
    logger,
  })
  const api = config.role === 'projector' ? undefined : startApi(definition, config, storage, shards, logger, tracing)
  const lag = watchLag(shards, config.projectorStallSeconds * 1000, projectors)
  const publishing = projectors && startPublishing(definition, storage, shards, lag, logger, api?.readSide)
  const { settingFiles } = config
  const watched = { log: storage.log, shards, publishing, output, settingFiles }
  const health = serviceHealth({ ...watched, projectors, reads: api?.readSide, lag })
  const traffic = new Traffic()
  let draining = false
  const probed = {
    health,
    traffic,
    metrics: serviceMetrics(definition.service.name, {
      ...{ ...watched, lag, feed: api?.events, appender: api?.appender, traffic },
      ...{ acknowledged: api?.acknowledged },
    }),
    draining: () => draining,
  }
  const { adminPort, probesInDetail, logsWrites, corsOrigins, publicUrl } = config
  const parts = { definition, storage, health, lag, traffic, logger, role: config.role }
  const warnings = () => [
    ...output.warnings,
    ...settingFiles.warnings,
    ...storage.stores.flatMap((store) => store.warnings),
  ]
  const standing = () => publishing?.states.flatMap((state) => state.warnings) ?? []
  const console =
    api && config.hasConsole ? await startConsole({ ...parts, ...api, warnings, publishing: standing }) : undefined
  const served = { ...probed, api: api?.services }
  const operated = { ...served, addConsole: console?.add }
  const app = await buildApp(adminPort === undefined ? operated : served, {
    ...{ logger, logsWrites, probesInDetail, corsOrigins, publicUrl },
    connections: connectionLimits(config),
  })
  const admin = adminPort === undefined ? undefined : await buildAdminApp(operated, logger)
  let published: Promise<void> | undefined

  /** From now on load balancers are told to send requests elsewhere. */
  function beginClosing(): void {
    draining = true
    published = publishing?.close()
  }

  /** Closes the parts in the order of their dependencies, once `finished` what is in flight. */
  async function close(finished: () => Promise<void>): Promise<void> {
    api?.events.close() // what is followed has no end of its own
    await finished()
    await app.close()
    await admin?.close()
    await console?.close()
    await lag.close()
    await api?.close()
    await Promise.all([published, projectors?.close()]) // each leaves its group, which takes long where no broker answers
    await Promise.all(shards.map(({ tracker }) => tracker.close()))
    await stopRetention()
    await storage.close()
    await tracing?.flush(logger)
  }
  return { app, admin, api, beginClosing, close }
}

/** It is loaded only where it is served. */
async function startConsole({
  readSide,
  ...parts
}: Omit<ConsoleOptions, 'reads' | 'readModel' | 'processName' | 'openScratch'> & Pick<Api, 'readSide'>) {
  const [{ openConsole }, { addConsole }] = await Promise.all([
    import('../console/console.ts'),
    import('../console/routes.ts'),
  ])
  const opened = openConsole({ ...parts, readModel: readSide.readModel, reads: readSide, processName, openScratch })
  const add = (app: FastifyInstance, api: ApiServices) => addConsole(app, api, opened)
  return { add, close: opened.close }
}

/** Throws a ConfigError that says which variable to change. */
async function listen(app: FastifyInstance, variable: string, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const notOurs = `HOST=${host} is not an address of this machine: set HOST to one of its addresses, or to 0.0.0.0 for all`
    const problems: Record<string, string> = {
      EADDRINUSE: `${variable}=${port} is already in use on ${host}: stop the other process, or set ${variable} to another port`,
      EACCES: `${variable}=${port} may not be used by this user: set ${variable} to 1024 or more`,
      EADDRNOTAVAIL: notOurs,
      ENOTFOUND: notOurs,
    }
    throw new ConfigError(`${problems[code ?? ''] ?? message}.`, { cause: error })
  }
}
