import type { Logger } from 'pino'
import { lockFile } from '../lib/file-lock.ts'
import { readIfThere, replaceFile } from './key-file.ts'

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
  return `${path}.used`
}

/**
 * Notes which keys are used, and saves it once a minute, merged with what other processes on the same file have saved.
 */
export class KeyUse {
  readonly #path: string
  readonly #now: () => Date
  readonly #logger: Logger
  readonly #used = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #hasFailed = false

  constructor(path: string, now: () => Date, logger: Logger) {
    this.#path = path
    this.#now = now
    this.#logger = logger
    this.#timer = setInterval(() => this.#write(), writtenEveryMs).unref()
  }

  note(keyId: string): void {
    this.#used.add(keyId)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#write()
  }

  #write(): void {
    if (this.#used.size === 0) return
    try {
      if (readIfThere(this.#path) === undefined) return
      using lock = lockFile(`${this.#path}.lock`, 0)
      if (lock === undefined) return // tries again next time
      const time = this.#now().toISOString()
      const used = { ...readKeyUse(this.#path), ...Object.fromEntries([...this.#used].map((id) => [id, time])) }
      replaceFile(fileOf(this.#path), `${JSON.stringify(used, null, 2)}\n`)
      this.#used.clear()
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) this.#logger.warn({ err: error }, 'the file of last uses of API keys cannot be written')
      this.#hasFailed = true
    }
  }
}
