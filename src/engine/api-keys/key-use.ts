import type { Logger } from 'pino'
import { fileBehind, replaceFile } from '../lib/durable-files.ts'
import { lockFile } from '../lib/file-lock.ts'
import { readIfThere } from './key-file.ts'

const writtenEveryMs = 60_000

/** When each key was last used, to the minute: ISO times by key id, in a file beside that of the keys. */
export function readKeyUse(path: string): Readonly<Record<string, string>> {
  try {
    return JSON.parse(readIfThere(fileOf(path)) ?? '{}')
  } catch {
    return {} // only people read it, and it is written again
  }
}

function fileOf(path: string): string {
  return `${fileBehind(path)}.used`
}

/**
 * Notes which keys are used, and saves it once a minute, merged with what other processes on the same file have saved.
 */
export function noteKeyUse(path: string, now: () => Date, logger: Logger) {
  const noted = new Set<string>()
  let hasFailed = false

  function write(): void {
    if (noted.size === 0) return
    try {
      if (readIfThere(path) === undefined) return
      using lock = lockFile(`${fileBehind(path)}.lock`, 0)
      if (lock === undefined) return // tries again next time
      const time = now().toISOString()
      const used = { ...readKeyUse(path), ...Object.fromEntries([...noted].map((id) => [id, time])) }
      replaceFile(fileOf(path), `${JSON.stringify(used, null, 2)}\n`)
      noted.clear()
      hasFailed = false
    } catch (error) {
      if (!hasFailed) logger.warn({ err: error }, 'the file of last uses of API keys cannot be written')
      hasFailed = true
    }
  }

  const timer = setInterval(write, writtenEveryMs).unref()
  return {
    note: (keyId: string) => void noted.add(keyId),
    close: () => {
      clearInterval(timer)
      write()
    },
  }
}
