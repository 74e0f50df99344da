import { statSync } from 'node:fs'
import type { Logger } from 'pino'
import { hashKey, readKeys } from './key-file.ts'

const lookEveryMs = 500

/** The keys that are valid now: those of the file, followed as it changes, and those given in plain text. */
export class KeyRing {
  readonly #path: string
  readonly #logger: Logger
  readonly #given: ReadonlyMap<string, string>
  readonly #timer: NodeJS.Timeout
  #stamp: string
  #idByHash: ReadonlyMap<string, string>

  /** Throws an Error that names the file when it cannot be read. */
  constructor(path: string, given: readonly string[], logger: Logger) {
    this.#path = path
    this.#logger = logger
    this.#given = new Map(given.map((key) => [hashKey(key), `given-${hashKey(key).slice(0, 8)}`]))
    this.#stamp = stampOf(path)
    this.#idByHash = this.#read()
    // Looking at intervals sees every kind of change, also where files are replaced or mounted. The watchFile of Node does
    // so too, but compares with what it finds some time after it was called.
    this.#timer = setInterval(() => this.#follow(), lookEveryMs).unref()
  }

  /** The id of the key; undefined when it is not valid. */
  idOf(key: string): string | undefined {
    return this.#idByHash.get(hashKey(key))
  }

  get size(): number {
    return this.#idByHash.size
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #read(): ReadonlyMap<string, string> {
    const stored = (readKeys(this.#path) ?? []).map(({ sha256, id }) => [sha256, id] as const)
    return new Map([...this.#given, ...stored])
  }

  #follow(): void {
    try {
      const stamp = stampOf(this.#path)
      if (stamp === this.#stamp) return
      this.#stamp = stamp // taken before the keys are read: a change in between is seen the next time
      this.#idByHash = this.#read()
      this.#logger.info({ keys: this.size }, 'API keys read again')
    } catch (error) {
      this.#logger.error({ err: error }, 'API keys left as they were: the file cannot be read')
    }
  }
}

/** Another one after each change of the file. Why it cannot be looked at is one as well: reading it tells of that. */
function stampOf(path: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return [ino, size, mtimeNs, ctimeNs].join(' ')
  } catch (error) {
    return String(error)
  }
}
