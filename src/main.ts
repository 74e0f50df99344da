import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { readConfig } from './config.ts'
import { greeting } from './greeting.ts'
import { startService } from './service.ts'

/** Time for what is in flight, in milliseconds; then the process ends whatever is left. */
const closeWithinMs = 9500

try {
  const config = readConfig(process.env)
  const logger = pino({ level: config.logLevel })
  const service = await startService(config, logger)
  if (config.brokers === undefined) process.stdout.write(greeting(service, config.dataDir))
  else logger.info({ url: service.url, role: config.role }, 'ready')
  closeWithGrace({ delay: closeWithinMs, logger }, async ({ signal, err }) => {
    logger.info({ signal, err }, 'closing')
    await service.close()
    logger.info('closed')
  })
} catch (error) {
  process.stderr.write(`petstore: ${error instanceof Error ? error.message : error}\n`)
  process.exit(1)
}
