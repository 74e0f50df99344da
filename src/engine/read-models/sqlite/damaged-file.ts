import { existsSync, renameSync, rmSync } from 'node:fs'
import type { Logger } from 'pino'
import { fileBehind } from '../../lib/durable-files.ts'
import { isDamagedFile } from '../../lib/errors/file-errors.ts'

/** Whether a file of read models that is damaged may be set aside, and how. */
export interface RepairOptions {
  readonly logger: Logger
  /** What damages the file again costs one rebuild in this time; by default 10 s. */
  readonly pauseMs?: number
}

const sqliteError = 1
const defaultPauseMs = 10_000

/** Whether the file is damaged, or lacks a table. */
export function isDamage(error: unknown): boolean {
  const { errcode, message } = error as Error & { errcode?: number }
  return isDamagedFile(error) || (errcode === sqliteError && /^no such table: /.test(message))
}

/** Under which name the latest damaged file is kept. */
export function setAsideName(file: string): string {
  return `${file}.damaged`
}

/** Sets a damaged file of read models aside, so that another one is made in its place: at once, and then after a pause. */
export class DamagedFile {
  readonly #file: string
  readonly #logger: Logger
  readonly #pauseMs: number
  #dueMs = Number.NEGATIVE_INFINITY
  #isToldAgain = false

  constructor(file: string, { logger, pauseMs = defaultPauseMs }: RepairOptions) {
    this.#file = file
    this.#logger = logger
    this.#pauseMs = pauseMs
  }

  /** Calls `close`, and sets the file aside. False, and nothing is done, during the pause, or if that fails. */
  setAside(cause: unknown, close: () => void): boolean {
    const now = performance.now()
    if (now < this.#dueMs) {
      if (!this.#isToldAgain)
        this.#logger.error({ err: cause }, 'the file of read models is damaged again: look at its disk')
      this.#isToldAgain = true
      return false
    }
    this.#dueMs = now + this.#pauseMs
    this.#isToldAgain = false
    try {
      close()
      const kept = moveAway(fileBehind(this.#file))
      this.#logger.error({ err: cause, kept }, 'the file of read models is damaged: it is set aside and built again')
      return true
    } catch (error) {
      this.#logger.error({ err: error, damage: cause }, 'the damaged file of read models cannot be set aside')
      return false
    }
  }
}

/** The file first: a `-wal` that is left without it says nothing. */
function moveAway(file: string): string {
  const kept = setAsideName(file)
  if (existsSync(file)) {
    rmSync(`${kept}-wal`, { force: true })
    renameSync(file, kept)
    if (existsSync(`${file}-wal`)) renameSync(`${file}-wal`, `${kept}-wal`)
  }
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true })
  return kept
}
