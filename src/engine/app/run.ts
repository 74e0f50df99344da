import closeWithGrace from 'close-with-grace'
import { type Logger, pino } from 'pino'
import type { Definition } from '../definition/definition.ts'
import { toldOf } from '../lib/errors/file-errors.ts'
import { banner } from './banner.ts'
import { readConfig } from './config.ts'
import { LogOutput } from './log-output.ts'
import { type RunningService, startService } from './service.ts'
import { prepareProcess } from './storage/storage.ts'

/** Time limit for finishing what is in flight, in milliseconds; then the process ends anyway. */
const closeWithinMs = 9500
/** How long the last lines of the log may then wait for a slow reader, in milliseconds. */
const flushWithinMs = 300
/** npm passes these on, also where the terminal or the supervisor has sent them here too: a second one changes nothing. */
const passedOn = ['SIGINT', 'SIGTERM'] as const

/** Serves until the process is told to end. Where that cannot be begun, says why and ends the process. */
export async function run(
  name: string,
  makeDefinition: () => Definition,
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  try {
    const definition = makeDefinition()
    const config = readConfig(definition, environment)
    await prepareProcess(config)
    process.stderr.on('error', () => {}) // libraries write there, and it may be full or closed
    const output = new LogOutput(process.stdout)
    const logger = pino({ level: config.logLevel }, output)
    const service = await startService(definition, config, logger, output)
    if (config.brokers === undefined) output.write(banner(definition, service, config))
    else logger.info({ url: service.url, role: config.role }, 'ready')
    closeWhenTold(service, logger, output)
  } catch (error) {
    process.stderr.write(`${name}: ${toldOf(error)}\n`)
    process.exit(1)
  }
}

/** Ends the process once the service is closed: when told to, or when the log was replaced. */
function closeWhenTold(service: RunningService, logger: Logger, output: LogOutput): void {
  let closing = false
  let isReplaced = false
  let told: (typeof passedOn)[number] | undefined
  const options = { delay: closeWithinMs, logger, skip: [...passedOn] }
  const { close } = closeWithGrace(options, async ({ signal = told, err }) => {
    closing = true
    logger.info({ signal, err }, 'closing')
    await service.close()
    logger.info('closed')
    await output.flush(flushWithinMs)
    if (isReplaced) process.exit(1) // as after an error, so that a supervisor restarts it
  })
  for (const signal of passedOn) {
    process.on(signal, () => {
      if (closing) return
      told = signal
      close()
    })
  }
  void service.logReplaced.then(() => {
    if (closing) return
    isReplaced = true
    logger.error('the event log was replaced: this process ends; start it again to serve the new log')
    close()
  })
}
