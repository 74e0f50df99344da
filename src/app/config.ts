import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { join } from 'node:path'
import { type Static, type TSchema, Type } from 'typebox'
import { compileCheck } from '../lib/validation.ts'

/** `description`: what the variable must be, for the message where it does not have the pattern. */
type Pattern = { readonly pattern: string; readonly description: string }

function integer(fallback: number, [minimum, maximum]: readonly [number, number]) {
  return Type.Integer({ minimum, maximum, default: fallback })
}

function text(fallback: string, pattern?: Pattern) {
  return Type.String({ default: fallback, ...pattern })
}

function optionalText(pattern?: Pattern) {
  return Type.Optional(Type.String({ ...pattern }))
}

/** Every environment variable this service reads. The README says what each is for; a test holds its table to this one. */
export const Environment = Type.Object({
  ROLE: Type.Enum(['all', 'api', 'projector'], { default: 'all' }),
  HOST: text('127.0.0.1'),
  PORT: integer(3000, [0, 65_535]),
  DATA_DIR: text('./data'),
  API_KEYS_FILE: optionalText(),
  API_KEYS: optionalText(),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], { default: 'info' }),
  LOG_REQUESTS: Type.Boolean({ default: false }),
  APPEND_TIMEOUT_MS: integer(5000, [1000, 60_000]),
  MAX_CONNECTIONS: integer(2000, [1, 1_000_000]),
  MAX_CONNECTIONS_PER_ADDRESS: integer(1000, [1, 1_000_000]),
  MAX_IN_FLIGHT_PER_KEY: integer(1000, [1, 1_000_000]),
  RATE_LIMIT: optionalText({
    pattern: '^[1-9]\\d{0,8}/[1-9]\\d{0,5}$',
    description: 'requests/seconds, such as 100/60',
  }),
  PETS_PER_KEY_AND_DAY: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  TRUST_PROXY: optionalText(),
  READ_MODEL_GRACE_SECONDS: integer(3600, [5, 31_536_000]),
  READ_MODEL_SHARDS: integer(1, [1, 64]),
  PROJECTOR_STALL_SECONDS: integer(30, [1, 3600]),
  KAFKA_BROKERS: optionalText({
    pattern: '^[^,:\\s]+:\\d+(,[^,:\\s]+:\\d+)*$',
    description: 'host:port, several by comma',
  }),
  KAFKA_TOPIC: text('petstore.pets', {
    pattern: '^[a-zA-Z0-9._-]{1,200}$',
    description: 'letters, digits, dots, underscores and hyphens: the topic of the events',
  }),
  KAFKA_PARTITIONS: integer(6, [1, 1000]),
  KAFKA_REPLICATION_FACTOR: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  KAFKA_TLS: Type.Boolean({ default: false }),
  KAFKA_TLS_CA_FILE: optionalText(),
  KAFKA_SASL_MECHANISM: Type.Optional(Type.Enum(['plain', 'scram-sha-256', 'scram-sha-512'])),
  KAFKA_SASL_USERNAME: optionalText(),
  KAFKA_SASL_PASSWORD: optionalText(),
  REDIS_URL: optionalText({ pattern: '^rediss?://\\S+$', description: 'redis://… or, with TLS, rediss://…' }),
  REDIS_PREFIX: text('petstore', {
    pattern: '^[^{}\\s]+$',
    description: 'free of braces and white space: what all Redis keys begin with',
  }),
})

type Variables = Static<typeof Environment>
export type Config = ReturnType<typeof readConfig>
export type KafkaConfig = ReturnType<typeof readKafka>

/** What is wrong with the environment, naming the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Shorter ones can be guessed. */
const givenKeyLengthMin = 20

const checkEnvironment = compileCheck(Environment)

/** Throws ConfigError. An empty variable counts as one that is not set. */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const variables = readVariables(environment)
  const { ROLE: role, READ_MODEL_SHARDS: shards, KAFKA_PARTITIONS: partitions } = variables
  const brokers = readBrokers(variables)
  if (brokers === undefined && role !== 'all') {
    throw new ConfigError(`ROLE=${role} needs KAFKA_BROKERS and REDIS_URL: the embedded default is one process.`)
  }
  if (brokers === undefined && shards > 1) {
    throw new ConfigError(`READ_MODEL_SHARDS=${shards} needs KAFKA_BROKERS and REDIS_URL: embedded there is one.`)
  }
  if (shards > partitions) {
    throw new ConfigError(
      `READ_MODEL_SHARDS=${shards} is more than KAFKA_PARTITIONS=${partitions}: some would be empty.`,
    )
  }
  return Object.freeze({
    role,
    host: variables.HOST,
    port: variables.PORT,
    dataDir: variables.DATA_DIR,
    apiKeysFile: variables.API_KEYS_FILE ?? join(variables.DATA_DIR, 'api-keys.json'),
    apiKeys: readGivenKeys(variables.API_KEYS),
    logLevel: variables.LOG_LEVEL,
    logsWrites: variables.LOG_REQUESTS,
    appendTimeoutMs: variables.APPEND_TIMEOUT_MS,
    maxConnections: variables.MAX_CONNECTIONS,
    maxConnectionsPerAddress: variables.MAX_CONNECTIONS_PER_ADDRESS,
    maxInFlightPerKey: variables.MAX_IN_FLIGHT_PER_KEY,
    rate: readRate(variables.RATE_LIMIT),
    petsPerKeyAndDay: variables.PETS_PER_KEY_AND_DAY,
    isTrustedProxy: readProxies(list(variables.TRUST_PROXY)),
    readModelGraceSeconds: variables.READ_MODEL_GRACE_SECONDS,
    readModelShards: shards,
    projectorStallSeconds: variables.PROJECTOR_STALL_SECONDS,
    /** Undefined: everything is embedded. */
    brokers,
  })
}

function readVariables(environment: NodeJS.ProcessEnv): Variables {
  const read = Object.entries(Environment.properties).map(([name, schema]) => {
    const text = environment[name]
    return [name, text ? parse(text, schema) : 'default' in schema ? schema.default : undefined]
  })
  const variables = Object.fromEntries(read.filter(([, value]) => value !== undefined))
  const problem = checkEnvironment(variables)
  if (problem !== undefined) throw new ConfigError(problem)
  return variables as Variables
}

/** Text that is not of the schema's type is left as it is, for the check to refuse. */
function parse(text: string, schema: TSchema): unknown {
  if (Type.IsInteger(schema) && /^\d{1,15}$/.test(text)) return Number(text)
  if (Type.IsBoolean(schema) && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

function readBrokers(variables: Variables) {
  const { KAFKA_BROKERS: kafka, REDIS_URL: url, REDIS_PREFIX: prefix } = variables
  if (kafka !== undefined && url !== undefined) {
    return { kafka: readKafka(variables, kafka), redis: { url, prefix } }
  }
  if (kafka === undefined && url === undefined) return undefined
  const [set, unset] = kafka === undefined ? ['REDIS_URL', 'KAFKA_BROKERS'] : ['KAFKA_BROKERS', 'REDIS_URL']
  throw new ConfigError(`${set} is set but ${unset} is not: set both, or none for the embedded default.`)
}

function readKafka(variables: Variables, brokers: string) {
  return {
    brokers: list(brokers),
    topic: variables.KAFKA_TOPIC,
    partitions: variables.KAFKA_PARTITIONS,
    replicationFactor: variables.KAFKA_REPLICATION_FACTOR,
    tls: variables.KAFKA_TLS ? readTls(variables.KAFKA_TLS_CA_FILE) : undefined,
    sasl: readSasl(variables),
  }
}

/** Without a file, the certificate authorities that Node knows. */
function readTls(caFile: string | undefined): true | { readonly ca: string } {
  if (caFile === undefined) return true
  try {
    return { ca: readFileSync(caFile, 'utf8') }
  } catch (error) {
    throw new ConfigError(`KAFKA_TLS_CA_FILE cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

function readSasl(variables: Variables) {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = variables
  if (mechanism === undefined) return undefined
  if (username === undefined || password === undefined) {
    throw new ConfigError('KAFKA_SASL_MECHANISM needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD.')
  }
  return { mechanism, username, password }
}

function readGivenKeys(text: string | undefined): readonly string[] {
  const keys = list(text)
  if (keys.some((key) => key.length < givenKeyLengthMin)) {
    throw new ConfigError(`API_KEYS has a key of less than ${givenKeyLengthMin} characters: take longer ones.`)
  }
  return keys
}

function readRate(text: string | undefined) {
  if (text === undefined) return undefined
  const [requests = 1, seconds = 1] = text.split('/').map(Number)
  return { requests, seconds }
}

/** Addresses and networks, as `10.0.0.0/8`. */
function readProxies(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.split('/')
    const family = familyOf(address)
    try {
      if (prefix === undefined) trusted.addAddress(address, family)
      else trusted.addSubnet(address, /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1, family)
    } catch (error) {
      const form = 'IP addresses and networks such as 10.0.0.0/8, separated by commas'
      throw new ConfigError(`TRUST_PROXY=${proxy} is not an address: it must be ${form}.`, { cause: error })
    }
  }
  return (address) => trusted.check(address, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}

function list(text = ''): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
