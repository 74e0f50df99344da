import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { environmentOf } from '../../../src/engine/app/environment.ts'
import { secretVariables } from '../../../src/engine/app/storage/secrets.ts'
import { ConfigError } from '../../../src/engine/app/variables.ts'
import { current } from '../../../src/engine/lib/changing.ts'
import { theatre } from '../theatre/theatre.ts'

const folder = mkdtempSync(join(tmpdir(), 'theatre-secrets-'))
afterAll(() => rmSync(folder, { recursive: true }))
let files = 0
function fileOf(content: string | Uint8Array): string {
  const file = join(folder, `${files++}`)
  writeFileSync(file, content)
  return file
}

type SecretVariable = (typeof secretVariables)[number]

const given: Readonly<Record<SecretVariable, string>> = {
  KAFKA_SASL_USERNAME: 'the-user-of-kafka',
  KAFKA_SASL_PASSWORD: 'the-password-of-kafka',
  REDIS_URL: 'redis://user:the-password-of-redis@localhost:6379/2',
}
const others = { KAFKA_BROKERS: 'a:9092', KAFKA_SASL_MECHANISM: 'scram-sha-256' }

/** A configuration with this secret in a file, and how it reads the secret then. */
function withFile(name: SecretVariable, file: string, environment: NodeJS.ProcessEnv = {}) {
  const { settingFiles, brokers } = readConfig(theatre, {
    ...{ ...others, ...given, [name]: undefined, [`${name}_FILE`]: file },
    ...environment,
  })
  const { sasl } = brokers?.kafka ?? {}
  const secrets = {
    KAFKA_SASL_USERNAME: sasl?.username,
    KAFKA_SASL_PASSWORD: sasl?.password,
    REDIS_URL: brokers?.redis.url,
  }
  return { settingFiles, read: () => current(secrets[name] ?? '') }
}

/** What is thrown, if it names variable and file, and nothing that is in a file. */
function refusal(work: () => unknown, variable: string, file: string, content: string): string {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    const { message } = error as Error
    expect(message.startsWith(`${variable}=${file} `), message).toBe(true)
    if (content !== '') expect(message).not.toContain(content)
    return message.slice(`${variable}=${file} `.length)
  }
  throw new Error('nothing was refused')
}

it('what else is secret has no variable for a file: only API_KEYS, whose file has hashes', () => {
  const names = Object.keys(environmentOf({ topic: 'theatre.seats', prefix: 'theatre' }).properties)
  const secret = names.filter((name) => /PASSWORD|USERNAME|SECRET|TOKEN|URL|KEYS/.test(name) && !name.endsWith('_FILE'))
  expect(new Set(secret)).toEqual(new Set([...secretVariables, 'API_KEYS', 'PUBLIC_URL']))
  expect(names).toEqual(expect.arrayContaining(secretVariables.map((name) => `${name}_FILE`)))
})

describe.each(secretVariables)('%s', (name) => {
  const value = given[name]
  const variable = `${name}_FILE`

  it.each([
    ['without a line break', value],
    ['with one', `${value}\n`],
    ['with one of Windows', `${value}\r\n`],
  ])('is read from a file %s', (_, content) => {
    expect(withFile(name, fileOf(content)).read()).toBe(value)
  })

  it('is read anew each time, also where the file is a link that leads to another one', () => {
    const [one, link] = [fileOf(value), join(folder, `link-${name}`)]
    symlinkSync(one, link)
    const { read } = withFile(name, link)
    const renewed = value.replace('the-', 'another-')
    symlinkSync(fileOf(`${renewed}\n`), `${link}.new`)
    renameSync(`${link}.new`, link)
    expect(read()).toBe(renewed)
    writeFileSync(one, value)
    expect(read()).toBe(renewed)
  })

  it('is given once', () => {
    const both = { ...others, ...given, [variable]: fileOf(value) }
    expect(() => readConfig(theatre, both)).toThrow(`${name} and ${variable} are both set: set one of them.`)
  })

  const bad: [string, string | Uint8Array, RegExp][] = [
    ['is empty', '', /^is empty\.$/],
    ['has an empty line alone', '\n', /^is empty\.$/],
    ['has two lines', `${value}\nmore`, /^must have one line/],
    ['ends in two line breaks', `${value}\n\n`, /^must have one line/],
    ['is not in UTF-8', Buffer.from([...Buffer.from(value), 0xff]), /^is not text in UTF-8\.$/],
    ['is too large', value.padEnd(1024 ** 2 + 1, 'x'), /^has more than 1 MiB\.$/],
  ]

  it.each(bad)('is refused at the start where the file %s', (_, content, reason) => {
    const file = fileOf(content)
    expect(refusal(() => withFile(name, file), variable, file, value)).toMatch(reason)
  })

  it.each(bad)('is refused later where the file %s, which is told until it is put right', (_, content, reason) => {
    const file = fileOf(value)
    const { read, settingFiles } = withFile(name, file)
    const lines: string[] = []
    settingFiles.tellTo({
      info: (...said: unknown[]) => void lines.push(JSON.stringify(said)),
      warn: (...said: unknown[]) => void lines.push(JSON.stringify(said)),
    })
    writeFileSync(file, content)
    const message = `${variable}=${file} ${refusal(read, variable, file, value)}`
    expect(refusal(read, variable, file, value)).toMatch(reason)
    expect(settingFiles.warnings).toEqual([{ code: 'setting_unreadable', message }])
    expect(lines).toEqual([JSON.stringify([{ variable }, message])])
    writeFileSync(file, value)
    expect(read()).toBe(value)
    expect(settingFiles.warnings).toEqual([])
    expect(lines).toHaveLength(2)
    expect(lines.join()).not.toContain(value)
  })

  it.each([
    ['is not there', () => join(folder, 'none'), /^cannot be read: ENOENT.*: correct the path, or make it\.$/],
    ['is a folder', () => mkdtempSync(join(folder, 'in-')), /^cannot be read: it is not a file\.$/],
    ['is a pipe', pipe, /^cannot be read: it is not a file\.$/],
  ])('is refused where the file %s', (_, make, reason) => {
    const file = make()
    expect(refusal(() => withFile(name, file), variable, file, '')).toMatch(reason)
  })

  it('is refused later where the file is gone', () => {
    const file = fileOf(value)
    const { read } = withFile(name, file)
    rmSync(file)
    expect(refusal(read, variable, file, value)).toMatch(/^cannot be read: ENOENT/)
  })
})

function pipe(): string {
  const file = join(folder, `pipe-${files++}`)
  execFileSync('mkfifo', [file])
  return file
}

// Root may read everything.
if (process.getuid?.() !== 0) {
  it('a file that this user may not read is refused', () => {
    const file = fileOf(given.REDIS_URL)
    chmodSync(file, 0)
    expect(refusal(() => withFile('REDIS_URL', file), 'REDIS_URL_FILE', file, '')).toMatch(/^cannot be read: EACCES/)
  })
}

describe('the URL of Redis', () => {
  it.each(['http://localhost', 'redis://', 'redis://localhost/seats', 'redis://:%zz@localhost', 'localhost'])(
    '%s in a file is refused and not shown',
    (content) => {
      const file = fileOf(content)
      const reason = refusal(() => withFile('REDIS_URL', file), 'REDIS_URL_FILE', file, '')
      expect(reason).toMatch(
        /^is not an address such as redis:\/\/user:password@host:6379\/0, all but the host optional\.$/,
      )
    },
  )

  it('may get another user and password, but no other address', () => {
    const file = fileOf('redis://user:one@localhost:6379/2')
    const { read } = withFile('REDIS_URL', file)
    writeFileSync(file, 'redis://other:two@localhost:6379/2')
    expect(read()).toBe('redis://other:two@localhost:6379/2')
    for (const address of ['rediss://localhost:6379/2', 'redis://elsewhere:6379/2', 'redis://localhost:6379/3']) {
      writeFileSync(file, address)
      expect(refusal(read, 'REDIS_URL_FILE', file, address)).toMatch(/^has another address .* start this process again/)
    }
  })

  it('in a file needs brokers of Kafka as well, and says TLS as the variable does', () => {
    const file = fileOf('redis://localhost')
    expect(() => readConfig(theatre, { REDIS_URL_FILE: file })).toThrow(
      'REDIS_URL_FILE is set but KAFKA_BROKERS is not',
    )
    const pem = fileOf('-----BEGIN CERTIFICATE-----')
    const environment = { REDIS_URL: '', REDIS_TLS_CA_FILE: pem }
    expect(() => withFile('REDIS_URL', file, environment)).toThrow('set REDIS_URL_FILE with rediss://…')
  })
})

it('certificates and keys are read anew', () => {
  const [cert, key] = [fileOf('-----BEGIN CERTIFICATE-----1'), fileOf('-----BEGIN PRIVATE KEY-----1')]
  const tls = { KAFKA_TLS: 'true', KAFKA_TLS_CERT_FILE: cert, KAFKA_TLS_KEY_FILE: key }
  const { brokers, settingFiles } = readConfig(theatre, { ...others, ...given, ...tls })
  writeFileSync(cert, '-----BEGIN CERTIFICATE-----2')
  const read = () => current<object | true>(brokers?.kafka.tls ?? {})
  expect(read()).toEqual({ cert: '-----BEGIN CERTIFICATE-----2', key: '-----BEGIN PRIVATE KEY-----1' })
  writeFileSync(key, 'no key')
  expect(refusal(read, 'KAFKA_TLS_KEY_FILE', key, 'no key')).toMatch(/^is not a PEM file/)
  expect(settingFiles.warnings).toHaveLength(1)
  rmSync(cert)
  mkdirSync(cert)
  expect(refusal(read, 'KAFKA_TLS_CERT_FILE', cert, '')).toMatch(/^cannot be read: it is not a file\.$/)
})
