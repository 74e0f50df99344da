import { copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { type Config, readConfig } from '../app/config.ts'
import { copyEmbeddedLog } from '../app/storage/files.ts'
import { ConfigError } from '../app/variables.ts'
import type { Definition } from '../definition/definition.ts'
import { isDiskFull, makeFolder, sync } from '../lib/durable-files.ts'
import { addAction, type CommandResult, type Options } from './output.ts'
import { showProgress } from './progress.ts'

export function addCommands(program: Command, definition: Definition): void {
  const description = 'Copy the embedded log and the API keys to a new folder, while the service runs'
  addAction(program.command('backup <folder>'), description, (folder: string, options: Options) =>
    backup(definition, folder, options),
  )
}

/** The read models are left out: the next start builds them from the log. */
function backup(definition: Definition, folder: string, { json = false }: Options): CommandResult {
  const config = readConfig(definition, process.env)
  if (config.brokers !== undefined) {
    const { topic } = config.brokers.kafka
    throw new ConfigError(
      `The log is in Kafka: back up the topics ${topic} and ${topic}.id-blocks by its tools, the events first.`,
    )
  }
  makeFolder(folder)
  if (readdirSync(folder).length > 0) throw new ConfigError(`${folder} is not empty: name a new folder.`)
  const { events, hasKeys } = copyOrNothing(config, folder, json)
  const keys = hasKeys ? ' and the API keys' : ''
  const text = `${events} events${keys} are in ${folder}. To serve them, stop the service, and start it with DATA_DIR=${folder}.`
  return { json: { folder, events, keys: hasKeys }, text }
}

/** What is not whole, or is damaged, must not be taken for a backup. */
function copyOrNothing(config: Config, folder: string, json: boolean) {
  const progress = showProgress(json)
  try {
    const events = copyEmbeddedLog(config, folder, (done, end) => progress.update('check', done, end))
    const hasKeys = existsSync(config.apiKeysFile)
    if (hasKeys) copyFileSync(config.apiKeysFile, join(folder, 'api-keys.json'))
    for (const name of [...readdirSync(folder), '.']) sync(join(folder, name))
    return { events, hasKeys }
  } catch (cause) {
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
    if (!isDiskFull(cause)) throw cause
    throw new Error(`There is no room for a backup in ${folder}: free some space, or name a folder on another disk.`, {
      cause,
    })
  } finally {
    progress.end()
  }
}
