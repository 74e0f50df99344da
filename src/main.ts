import { resolve } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { pino } from 'pino'
import { type Config, readConfig } from './app/config.ts'
import { LogOutput } from './app/log-output.ts'
import { type Service, startService } from './app/service.ts'
import { prepareProcess } from './app/storage.ts'

/** Time limit for finishing what is in flight, in milliseconds; then the process ends anyway. */
const closeWithinMs = 9500
/** How long the last lines of the log may then wait for a slow reader, in milliseconds. */
const flushWithinMs = 300

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
  const { close } = closeWithGrace({ delay: closeWithinMs, logger }, async ({ signal, err, manual }) => {
    closing = true
    logger.info({ signal, err }, 'closing')
    await service.close()
    logger.info('closed')
    await output.flush(flushWithinMs)
    if (manual) process.exit(1) // as after an error, so that a supervisor restarts it
  })
  void service.logReplaced.then(() => {
    if (closing) return
    logger.error('the event log was replaced: this process ends; start it again to serve the new log')
    close()
  })
} catch (error) {
  process.stderr.write(`petstore: ${error instanceof Error ? error.message : error}\n`)
  process.exit(1)
}

/** What a newcomer sees in embedded mode: where everything is, and commands that work when pasted. */
function banner({ url, issuedKey }: Service, { dataDir, apiKeysFile }: Config): string {
  const [which, key] =
    issuedKey === undefined
      ? [', or a new one', `$(API_KEYS_FILE=${quoted(apiKeysFile)} npm run --silent petstore -- keys issue --name me)`]
      : [', shown only once', issuedKey]
  return `
  The pet store is open: ${url}
  Documentation:         ${url}/docs
  Data:                  ${resolve(dataDir)}

  Your API key${which}:

  export PETSTORE_KEY=${key}

  Add a pet, then list all pets:

  curl -H "Authorization: Bearer $PETSTORE_KEY" -H 'Content-Type: application/json' \\
    -d '{"name":"Rex","categoryId":7}' ${url}/v1/pets
  curl -H "Authorization: Bearer $PETSTORE_KEY" ${url}/v1/pets

`
}

/** As one word for the shell, and as an absolute path, which works in any folder. */
function quoted(path: string): string {
  const whole = resolve(path)
  return /^[\w./-]+$/.test(whole) ? whole : `'${whole.replaceAll("'", "'\\''")}'`
}
