import { readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { type Static, Type } from 'typebox'
import { withFileRemedy } from '../../lib/errors/file-errors.ts'
import type { PublisherName } from '../../log/published-log.ts'
import { ConfigError, integer, list, optionalText, text } from '../variables.ts'

/** A name or an address, that of IPv6 in brackets, and a port. */
const port = '([1-9]\\d{0,3}|[1-5]\\d{4}|6[0-4]\\d{3}|65[0-4]\\d{2}|655[0-2]\\d|6553[0-5])'
const broker = `(\\[[^\\[\\],\\s]+\\]|[^\\[\\],:;\\s]+):${port}`

/** What they are called unless the operator says otherwise. */
export interface BrokerNames {
  readonly topic: string
  readonly prefix: string
}

export const brokerVariables = ({ topic, prefix }: BrokerNames) =>
  ({
    KAFKA_BROKERS: optionalText({
      pattern: `^${broker}(,\\s*${broker})*$`,
      'x-rule': 'must be host:port or [IPv6 address]:port, several separated by commas',
    }),
    KAFKA_TOPIC: text(topic, {
      pattern: '^(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,200}$',
      'x-rule': 'must be a topic name of letters, digits, dots, underscores and hyphens',
    }),
    KAFKA_PARTITIONS: integer(6, [1, 1000]),
    KAFKA_REPLICATION_FACTOR: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    PUBLISH: text('events,documents', {
      pattern: '^(events|documents|events, *documents|documents, *events|none)$',
      'x-rule': 'must be events, documents, both separated by a comma, or none',
    }),
    KAFKA_TLS: Type.Boolean({ default: false }),
    KAFKA_TLS_CA_FILE: optionalText(),
    KAFKA_TLS_CERT_FILE: optionalText(),
    KAFKA_TLS_KEY_FILE: optionalText(),
    KAFKA_SASL_MECHANISM: Type.Optional(Type.Enum(['plain', 'scram-sha-256', 'scram-sha-512'])),
    KAFKA_SASL_USERNAME: optionalText(),
    KAFKA_SASL_PASSWORD: optionalText(),
    REDIS_URL: optionalText({ pattern: '^rediss?://\\S+$', 'x-rule': 'must be redis://… or, with TLS, rediss://…' }),
    REDIS_TLS_CA_FILE: optionalText(),
    REDIS_TLS_CERT_FILE: optionalText(),
    REDIS_TLS_KEY_FILE: optionalText(),
    REDIS_PREFIX: text(prefix, { pattern: '^[^{}\\s]+$', 'x-rule': 'must be a prefix without braces and white space' }),
  }) as const

const all = (names: BrokerNames) => Type.Object(brokerVariables(names))
export type BrokerVariables = Static<ReturnType<typeof all>>

/** Where Kafka and Redis are; undefined where everything is embedded. Throws ConfigError. */
export function readBrokers(variables: BrokerVariables) {
  const { KAFKA_BROKERS: kafka, REDIS_URL: redis } = variables
  if (kafka !== undefined && redis !== undefined) {
    const publishers = list(variables.PUBLISH).filter((each) => each !== 'none') as PublisherName[]
    return { kafka: readKafka(variables, kafka), redis: readRedis(variables, redis), publishers }
  }
  if (kafka === undefined && redis === undefined) return undefined
  const [set, unset] = kafka === undefined ? ['REDIS_URL', 'KAFKA_BROKERS'] : ['KAFKA_BROKERS', 'REDIS_URL']
  throw new ConfigError(`${set} is set but ${unset} is not: set both, or neither to run embedded.`)
}

function readKafka(variables: BrokerVariables, brokers: string) {
  const tls = readTls('KAFKA', variables, variables.KAFKA_TLS ? undefined : 'KAFKA_TLS=true')
  return {
    brokers: readAddresses(brokers),
    topic: variables.KAFKA_TOPIC,
    partitions: variables.KAFKA_PARTITIONS,
    replicationFactor: variables.KAFKA_REPLICATION_FACTOR,
    tls: variables.KAFKA_TLS ? (tls ?? (true as const)) : undefined,
    sasl: readSasl(variables),
  }
}

function readAddresses(brokers: string): readonly string[] {
  const addresses = list(brokers)
  const wrong = addresses.find((each) => each.startsWith('[') && !isIPv6(each.slice(1, each.indexOf(']'))))
  if (wrong === undefined) return addresses
  throw new ConfigError(`KAFKA_BROKERS has ${wrong}, but what is in brackets is not an IPv6 address.`)
}

function readRedis(variables: BrokerVariables, url: string) {
  const { hostname = '', pathname = '' } = URL.parse(url) ?? {}
  if (hostname === '' || !/^(\/\d*)?$/.test(pathname)) {
    // It may hold a password, and so is not shown.
    throw new ConfigError(
      'REDIS_URL is not an address such as redis://user:password@host:6379/0, all but the host optional.',
    )
  }
  const tls = readTls('REDIS', variables, url.startsWith('rediss:') ? undefined : 'REDIS_URL=rediss://…')
  return { url, prefix: variables.REDIS_PREFIX, tls }
}

/**
 * PEM files: the certificate authority to trust (by default those that Node trusts), and a client certificate with its
 * key. Undefined if none is set. `missing` is what has to be set for TLS to be used, if it is not.
 */
function readTls(server: 'KAFKA' | 'REDIS', variables: BrokerVariables, missing: string | undefined) {
  const names = [`${server}_TLS_CA_FILE`, `${server}_TLS_CERT_FILE`, `${server}_TLS_KEY_FILE`] as const
  const [ca, cert, key] = names
  const [one, other] = variables[cert] === undefined ? [key, cert] : [cert, key]
  if (variables[one] !== undefined && variables[other] === undefined) {
    throw new ConfigError(`${one} is set but ${other} is not: set both, or neither.`)
  }
  const set = names.find((name) => variables[name] !== undefined)
  if (set === undefined) return undefined
  if (missing !== undefined) {
    throw new ConfigError(`${set} is set, but the connection does not use TLS: set ${missing}, or remove ${set}.`)
  }
  return { ca: readPem(ca, variables[ca]), cert: readPem(cert, variables[cert]), key: readPem(key, variables[key]) }
}

function readPem(name: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  try {
    const text = readFileSync(file, 'utf8')
    if (text.includes('-----BEGIN ')) return text
  } catch (error) {
    throw new ConfigError(`${name}=${file} cannot be read: ${withFileRemedy(error)}`, { cause: error })
  }
  throw new ConfigError(`${name}=${file} is not a PEM file: it has no line with -----BEGIN.`)
}

function readSasl(variables: BrokerVariables) {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = variables
  if (mechanism === undefined) {
    const set = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'].find((name) => variables[name as keyof BrokerVariables])
    if (set === undefined) return undefined
    throw new ConfigError(
      `${set} is set but KAFKA_SASL_MECHANISM is not: set it to plain, scram-sha-256 or scram-sha-512.`,
    )
  }
  if (username === undefined || password === undefined) {
    throw new ConfigError('KAFKA_SASL_MECHANISM needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD.')
  }
  if (mechanism === 'plain' && !variables.KAFKA_TLS) {
    throw new ConfigError(
      'KAFKA_SASL_MECHANISM=plain would send the password unencrypted: set KAFKA_TLS=true, or use scram-sha-512.',
    )
  }
  return { mechanism, username, password }
}
