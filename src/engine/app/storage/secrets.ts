import type { Changing } from '../../lib/changing.ts'
import { lineOf, type SettingFiles } from '../setting-files.ts'
import { ConfigError, optionalText } from '../variables.ts'

/** The variables whose value is secret, besides API_KEYS. Each may instead be in a file, whose variable ends in _FILE. */
export const secretVariables = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD', 'REDIS_URL'] as const

type SecretVariable = (typeof secretVariables)[number]
type Values = Readonly<Partial<Record<SecretVariable | `${SecretVariable}_FILE`, string | undefined>>>

export const secretFiles = Object.fromEntries(
  secretVariables.map((name) => [`${name}_FILE`, optionalText()]),
) as unknown as Record<`${SecretVariable}_FILE`, ReturnType<typeof optionalText>>

/** How a secret was given: `text` is its value, or the path of its file. */
export interface Secret {
  readonly variable: string
  readonly text: string
  readonly isFile: boolean
}

export const redisUrl = {
  pattern: '^rediss?://\\S+$',
  'x-rule': 'must be redis://… or, with TLS, rediss://…',
}

export function refuseBoth(values: Values): void {
  const both = secretVariables.find((name) => values[name] !== undefined && values[`${name}_FILE`] !== undefined)
  if (both === undefined) return
  throw new ConfigError(`${both} and ${both}_FILE are both set: set one of them.`)
}

/** Undefined if it was not given. */
export function secretOf(name: SecretVariable, values: Values): Secret | undefined {
  const [value, file] = [values[name], values[`${name}_FILE`]]
  if (value !== undefined) return { variable: name, text: value, isFile: false }
  return file === undefined ? undefined : { variable: `${name}_FILE`, text: file, isFile: true }
}

/** Throws ConfigError, as reading a file anew does. */
export function readSecret({ variable, text, isFile }: Secret, files: SettingFiles): Changing<string> {
  return isFile ? files.open(variable, text, lineOf) : text
}

/**
 * As `readSecret`. A file may change user and password alone: with another address some connections would lead to one
 * server, and some to another.
 */
export function readRedisUrl({ variable, text, isFile }: Secret, files: SettingFiles): Changing<string> {
  if (!isFile) {
    // It may hold a password, and so is not shown.
    if (addressOf(text) === undefined) throw new ConfigError(`${variable} ${noAddress}.`)
    return text
  }
  let known: string | undefined
  return files.open(variable, text, (content) => {
    const url = lineOf(content)
    const address = new RegExp(redisUrl.pattern).test(url) ? addressOf(url) : undefined
    if (address === undefined) throw new Error(noAddress)
    known ??= address
    if (address === known) return url
    throw new Error('has another address than at the start: start this process again to use it')
  })
}

const noAddress = 'is not an address such as redis://user:password@host:6379/0, all but the host optional'

/** The URL without user and password; undefined if it is not one of Redis. */
function addressOf(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || url.hostname === '' || !/^(\/\d*)?$/.test(url.pathname)) return undefined
  try {
    decodeURIComponent(url.username + url.password)
  } catch {
    return undefined
  }
  url.username = ''
  url.password = ''
  return url.href
}
