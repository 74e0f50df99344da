import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { banner } from './app/banner.ts'
import { readConfig } from './app/config.ts'
import { prepareProcess } from './app/process.ts'
import { startService } from './app/service.ts'

/** Time for what is in flight, in milliseconds; then the process ends whatever is left. */
const closeWithinMs = 9500

try {
  const config = readConfig(process.env)
  prepareProcess(config)
  const logger = pino({ level: config.logLevel })
  const service = await startService(config, logger)
  if (config.brokers === undefined) process.stdout.write(banner(service, config.dataDir))
  else logger.info({ url: service.url, role: config.role }, 'ready')
  let closing = false
  const { close } = closeWithGrace({ delay: closeWithinMs, logger }, async ({ signal, err, manual }) => {
    closing = true
    logger.info({ signal, err }, 'closing')
    await service.close()
    logger.info('closed')
    if (manual) process.exit(1) // as after an error: a supervisor is to start it again
  })
  void service.logReplaced.then(() => {
    if (closing) return
    logger.error('the event log was replaced by another one: this process ends, start it again to serve the new one')
    close()
  })
} catch (error) {
  process.stderr.write(`petstore: ${error instanceof Error ? error.message : error}\n`)
  process.exit(1)
}
