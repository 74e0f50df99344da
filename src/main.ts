import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { banner } from './engine/app/banner.ts'
import { readConfig } from './engine/app/config.ts'
import { LogOutput } from './engine/app/log-output.ts'
import { startService } from './engine/app/service.ts'
import { prepareProcess } from './engine/app/storage.ts'
import { toldOf } from './engine/lib/file-errors.ts'

/** Time limit for finishing what is in flight, in milliseconds; then the process ends anyway. */
const closeWithinMs = 9500
/** How long the last lines of the log may then wait for a slow reader, in milliseconds. */
const flushWithinMs = 300
/** npm passes these on, also where the terminal or the supervisor has sent them here too: a second one changes nothing. */
const passedOn = ['SIGINT', 'SIGTERM'] as const

try {
  const config = readConfig(process.env)
  prepareProcess(config)
  process.stderr.on('error', () => {}) // libraries write there, and it may be full or closed
  const output = new LogOutput(process.stdout)
  const logger = pino({ level: config.logLevel }, output)
  const service = await startService(config, logger, output)
  if (config.brokers === undefined) output.write(banner(service, config))
  else logger.info({ url: service.url, role: config.role }, 'ready')
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
} catch (error) {
  process.stderr.write(`petstore: ${toldOf(error)}\n`)
  process.exit(1)
}
