import { unwatchFile, watchFile } from 'node:fs'
import type { Logger } from 'pino'
import { hashKey, readKeys } from './key-file.ts'

const lookEveryMs = 500

/** The keys that are valid now: those of the file, followed as it changes, and those given in plain text. */
export class KeyRing {
  readonly #path: string
  readonly #logger: Logger
  readonly #given: ReadonlyMap<string, string>
  #idByHash: ReadonlyMap<string, string>

  /** Throws an Error that names the file when it cannot be read. */
  constructor(path: string, given: readonly string[], logger: Logger) {
    this.#path = path
    this.#logger = logger
    this.#given = new Map(given.map((key) => [hashKey(key), `given-${hashKey(key).slice(0, 8)}`]))
    this.#idByHash = this.#read()
    // Looking at intervals sees every kind of change, also where files are replaced or mounted.
    watchFile(path, { interval: lookEveryMs, persistent: false }, () => this.#follow())
  }

  /** The id of the key; undefined when it is not valid. */
  idOf(key: string): string | undefined {
    return this.#idByHash.get(hashKey(key))
  }

  get size(): number {
    return this.#idByHash.size
  }

  close(): void {
    unwatchFile(this.#path)
  }

  #read(): ReadonlyMap<string, string> {
    const stored = (readKeys(this.#path) ?? []).map(({ sha256, id }) => [sha256, id] as const)
    return new Map([...this.#given, ...stored])
  }

  #follow(): void {
    try {
      this.#idByHash = this.#read()
      this.#logger.info({ keys: this.size }, 'API keys read again')
    } catch (error) {
      this.#logger.error({ err: error }, 'API keys left as they were: the file cannot be read')
    }
  }
}
