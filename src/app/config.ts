import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, type TSchema, type TStringOptions, Type } from 'typebox'
import { compileCheck } from '../lib/validation.ts'

function integer(fallback: number, [minimum, maximum]: readonly [number, number], description: string) {
  return Type.Integer({ minimum, maximum, default: fallback, description })
}

function optional(description: string, options?: TStringOptions) {
  return Type.Optional(Type.String({ description, ...options }))
}

/** Every environment variable this service reads. The table in the README is held to this by a test. */
export const Environment = Type.Object({
  ROLE: Type.Enum(['all', 'api', 'projector'], { default: 'all', description: 'What this process does' }),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on' }),
  PORT: integer(3000, [0, 65_535], 'Port to listen on; 0 takes a free one'),
  DATA_DIR: Type.String({
    default: './data',
    description: 'Folder of the embedded log and read models, and of the keys',
  }),
  API_KEYS_FILE: optional('File of issued API keys (hashes)'),
  API_KEYS: optional('For development and tests: valid keys in plain text, by comma'),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least level logged; debug adds a line for each request',
  }),
  APPEND_TIMEOUT_MS: integer(
    5000,
    [1000, 60_000],
    'Longest wait for the log to confirm a write and for its outcome, in milliseconds',
  ),
  MAX_IN_FLIGHT_PER_KEY: integer(
    1000,
    [1, 1_000_000],
    'Requests of one API key in flight at once, waiting ones too; further ones are answered 429',
  ),
  READ_MODEL_GRACE_SECONDS: integer(
    3600,
    [5, 31_536_000],
    'How long read models are kept that no process uses any more',
  ),
  READ_MODEL_SHARDS: integer(
    1,
    [1, 64],
    'Parts of the read models in Redis, each on one master of a cluster; at most one for each partition',
  ),
  PROJECTOR_STALL_SECONDS: integer(
    30,
    [1, 3600],
    'How long a projector may stand still before records that it could apply, until /livez fails',
  ),
  KAFKA_BROKERS: optional('host:port, several by comma', { pattern: '^[^,:\\s]+:\\d+(,[^,:\\s]+:\\d+)*$' }),
  KAFKA_TOPIC: Type.String({
    pattern: '^[a-zA-Z0-9._-]{1,200}$',
    default: 'petstore.pets',
    description: 'letters, digits, dots, underscores and hyphens: the topic of the events',
  }),
  KAFKA_PARTITIONS: integer(6, [1, 1000], 'Partitions of the topic'),
  KAFKA_TLS: Type.Boolean({ default: false, description: 'Whether to speak TLS with Kafka' }),
  KAFKA_TLS_CA_FILE: optional('Certificate authority of the brokers, PEM'),
  KAFKA_SASL_MECHANISM: Type.Optional(
    Type.Enum(['plain', 'scram-sha-256', 'scram-sha-512'], { description: 'How to authenticate with Kafka' }),
  ),
  KAFKA_SASL_USERNAME: optional('User for SASL'),
  KAFKA_SASL_PASSWORD: optional('Password for SASL'),
  REDIS_URL: optional('redis://… or, with TLS, rediss://…', { pattern: '^rediss?://\\S+$' }),
  REDIS_PREFIX: Type.String({
    pattern: '^[^{}\\s]+$',
    default: 'petstore',
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
    apiKeys: list(variables.API_KEYS),
    logLevel: variables.LOG_LEVEL,
    appendTimeoutMs: variables.APPEND_TIMEOUT_MS,
    maxInFlightPerKey: variables.MAX_IN_FLIGHT_PER_KEY,
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

function list(text = ''): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
