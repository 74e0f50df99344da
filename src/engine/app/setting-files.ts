import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { Logger } from 'pino'
import { withFileRemedy } from '../lib/errors/file-errors.ts'
import type { Warning } from '../lib/operating/warning.ts'
import { ConfigError } from './variables.ts'

/** More than a bundle of all public authorities has. */
const bytesMax = 1024 ** 2

/**
 * The files that hold values of settings. Each is read at the start, and anew with each connection, so that a secret can
 * be rotated without a restart (decision 0078). While one cannot be read, connections fail, and probes say why.
 */
export class SettingFiles {
  /** Why a file could not be read the last time, by its variable. */
  readonly #problems = new Map<string, string>()
  #logger: Pick<Logger, 'info' | 'warn'> | undefined

  get warnings(): readonly Warning[] {
    return [...this.#problems.values()].map((message) => ({ code: 'setting_unreadable', message }))
  }

  /** From now on each problem is logged when it begins and when it ends. */
  tellTo(logger: Pick<Logger, 'info' | 'warn'>): void {
    this.#logger = logger
  }

  /**
   * Reads the value now, and returns how to read it anew. Both throw a ConfigError that names variable and file, and
   * never says what is in it. `parse` throws an Error that says what the file is not.
   */
  open<T>(variable: string, file: string, parse: (text: string) => T): () => T {
    const read = () => readValue(variable, file, parse)
    read()
    return () => {
      try {
        const value = read()
        this.#note(variable, undefined)
        return value
      } catch (error) {
        this.#note(variable, (error as Error).message)
        throw error
      }
    }
  }

  #note(variable: string, problem: string | undefined): void {
    const before = this.#problems.get(variable)
    if (problem === before) return
    if (problem === undefined) {
      this.#problems.delete(variable)
      this.#logger?.info({ variable }, 'the file of a setting can be read again')
    } else {
      this.#problems.set(variable, problem)
      this.#logger?.warn({ variable }, problem)
    }
  }
}

/** The text of a file with one line, without the line break at its end. */
export function lineOf(text: string): string {
  const line = text.replace(/\r?\n$/, '')
  if (line === '') throw new Error('is empty')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no secret has them, but a file of something else does
  if (/[\x00-\x1f\x7f]/.test(line)) throw new Error('must have one line, without control characters')
  return line
}

function readValue<T>(variable: string, file: string, parse: (text: string) => T): T {
  const bytes = readBytes(variable, file)
  try {
    return parse(textOf(bytes))
  } catch (error) {
    throw new ConfigError(`${variable}=${file} ${(error as Error).message}.`)
  }
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length > bytesMax) throw new Error(`has more than ${bytesMax / 1024 ** 2} MiB`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error('is not text in UTF-8')
  }
}

function readBytes(variable: string, file: string): Uint8Array {
  try {
    // A pipe would wait for its writer, and could be read only once.
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      if (!fstatSync(descriptor).isFile()) throw new Error('it is not a file')
      const bytes = Buffer.alloc(bytesMax + 1)
      return bytes.subarray(0, readSync(descriptor, bytes))
    } finally {
      closeSync(descriptor)
    }
  } catch (cause) {
    throw new ConfigError(`${variable}=${file} cannot be read: ${withFileRemedy(cause)}.`, { cause })
  }
}
