import { accessSync, chmodSync, constants, readdirSync, statSync } from 'node:fs'
import { makeFolder } from '../lib/durable-files.ts'
import { user } from '../lib/file-errors.ts'
import { ConfigError } from './environment.ts'

/**
 * Creates the folder for its user alone. An existing folder that others can read is closed to them if it contains only
 * our files.
 */
export function openDataFolder(dataDir: string): void {
  try {
    makeFolder(dataDir)
    accessSync(dataDir, constants.W_OK | constants.X_OK)
    const { uid, mode } = statSync(dataDir)
    const isOpen = (mode & 0o077) !== 0
    if (isOpen && uid === process.getuid?.() && isOurs(readdirSync(dataDir))) chmodSync(dataDir, 0o700)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isFile = code === 'EEXIST' || code === 'ENOTDIR'
    const problem = isFile ? 'is not a folder' : `cannot be written to (${message})`
    throw new ConfigError(`DATA_DIR=${dataDir} ${problem}: set DATA_DIR to a folder that ${user()} can write to.`, {
      cause: error,
    })
  }
}

function isOurs(names: readonly string[]): boolean {
  return names.length === 0 || names.includes('event-log.db')
}
