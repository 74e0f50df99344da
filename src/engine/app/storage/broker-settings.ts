import { isIPv6 } from 'node:net'
import { type Static, Type } from 'typebox'
import { current } from '../../lib/changing.ts'
import type { PublisherName } from '../../log/published-log.ts'
import type { SettingFiles } from '../setting-files.ts'
import { ConfigError, integer, list, optionalText, text } from '../variables.ts'
import { readRedisUrl, readSecret, redisUrl, refuseBoth, type Secret, secretFiles, secretOf } from './secrets.ts'

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
    REDIS_URL: optionalText(redisUrl),
    REDIS_TLS_CA_FILE: optionalText(),
    REDIS_TLS_CERT_FILE: optionalText(),
    REDIS_TLS_KEY_FILE: optionalText(),
    REDIS_PREFIX: text(prefix, { pattern: '^[^{}\\s]+$', 'x-rule': 'must be a prefix without braces and white space' }),
    ...secretFiles,
  }) as const

const all = (names: BrokerNames) => Type.Object(brokerVariables(names))
export type BrokerVariables = Static<ReturnType<typeof all>>

/** Where Kafka and Redis are; undefined where everything is embedded. Throws ConfigError. */
export function readBrokers(variables: BrokerVariables, files: SettingFiles) {
  refuseBoth(variables)
  const kafka = variables.KAFKA_BROKERS
  const redis = secretOf('REDIS_URL', variables)
  if (kafka !== undefined && redis !== undefined) {
    const publishers = list(variables.PUBLISH).filter((each) => each !== 'none') as PublisherName[]
    return { kafka: readKafka(variables, kafka, files), redis: readRedis(variables, redis, files), publishers }
  }
  if (kafka === undefined && redis === undefined) return undefined
  const [set, unset] = kafka === undefined ? [redis?.variable, 'KAFKA_BROKERS'] : ['KAFKA_BROKERS', 'REDIS_URL']
  throw new ConfigError(`${set} is set but ${unset} is not: set both, or neither to run embedded.`)
}

function readKafka(variables: BrokerVariables, brokers: string, files: SettingFiles) {
  const tls = readTls('KAFKA', variables, files, variables.KAFKA_TLS ? undefined : 'KAFKA_TLS=true')
  return {
    brokers: readAddresses(brokers),
    topic: variables.KAFKA_TOPIC,
    partitions: variables.KAFKA_PARTITIONS,
    replicationFactor: variables.KAFKA_REPLICATION_FACTOR,
    tls: variables.KAFKA_TLS ? (tls ?? (true as const)) : undefined,
    sasl: readSasl(variables, files),
  }
}

function readAddresses(brokers: string): readonly string[] {
  const addresses = list(brokers)
  const wrong = addresses.find((each) => each.startsWith('[') && !isIPv6(each.slice(1, each.indexOf(']'))))
  if (wrong === undefined) return addresses
  throw new ConfigError(`KAFKA_BROKERS has ${wrong}, but what is in brackets is not an IPv6 address.`)
}

function readRedis(variables: BrokerVariables, secret: Secret, files: SettingFiles) {
  const url = readRedisUrl(secret, files)
  const usesTls = current(url).startsWith('rediss:')
  const tls = readTls('REDIS', variables, files, usesTls ? undefined : `${secret.variable} with rediss://…`)
  return { url, prefix: variables.REDIS_PREFIX, tls }
}

/**
 * PEM files: the certificate authority to trust (by default those that Node trusts), and a client certificate with its
 * key. Undefined if none is set. `missing` is what has to be set for TLS to be used, if it is not.
 */
function readTls(
  server: 'KAFKA' | 'REDIS',
  variables: BrokerVariables,
  files: SettingFiles,
  missing: string | undefined,
) {
  const names = [`${server}_TLS_CA_FILE`, `${server}_TLS_CERT_FILE`, `${server}_TLS_KEY_FILE`] as const
  const [, cert, key] = names
  const [one, other] = variables[cert] === undefined ? [key, cert] : [cert, key]
  if (variables[one] !== undefined && variables[other] === undefined) {
    throw new ConfigError(`${one} is set but ${other} is not: set both, or neither.`)
  }
  const set = names.find((name) => variables[name] !== undefined)
  if (set === undefined) return undefined
  if (missing !== undefined) {
    throw new ConfigError(`${set} is set, but the connection does not use TLS: set ${missing}, or remove ${set}.`)
  }
  const [readCa, readCert, readKey] = names.map((name) => {
    const file = variables[name]
    return file === undefined ? undefined : files.open(name, file, pemOf)
  })
  return () => ({ ca: readCa?.(), cert: readCert?.(), key: readKey?.() })
}

function pemOf(text: string): string {
  if (text.includes('-----BEGIN ')) return text
  throw new Error('is not a PEM file: it has no line with -----BEGIN')
}

function readSasl(variables: BrokerVariables, files: SettingFiles) {
  const { KAFKA_SASL_MECHANISM: mechanism } = variables
  const username = secretOf('KAFKA_SASL_USERNAME', variables)
  const password = secretOf('KAFKA_SASL_PASSWORD', variables)
  if (mechanism === undefined) {
    const set = username ?? password
    if (set === undefined) return undefined
    throw new ConfigError(
      `${set.variable} is set but KAFKA_SASL_MECHANISM is not: set it to plain, scram-sha-256 or scram-sha-512.`,
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
  return { mechanism, username: readSecret(username, files), password: readSecret(password, files) }
}
