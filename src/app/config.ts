import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, type TSchema, Type } from 'typebox'
import { compileCheck } from '../lib/validation.ts'

/** Every environment variable this service reads. The table in the README is held to this by a test. */
export const Environment = Type.Object({
  ROLE: Type.Enum(['all', 'api', 'projector'], { default: 'all', description: 'What this process does' }),
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on' }),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65535,
    default: 3000,
    description: 'Port to listen on; 0 takes a free one',
  }),
  DATA_DIR: Type.String({
    default: './data',
    description: 'Folder of the embedded log and read models, and of the keys',
  }),
  API_KEYS_FILE: Type.Optional(Type.String({ description: 'File of issued API keys (hashes)' })),
  API_KEYS: Type.Optional(
    Type.String({ description: 'For development and tests: valid keys in plain text, by comma' }),
  ),
  LOG_LEVEL: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Least level logged; debug adds a line for each request',
  }),
  APPEND_TIMEOUT_MS: Type.Integer({
    minimum: 1000,
    maximum: 60_000,
    default: 5000,
    description: 'Longest wait for the log to confirm a write and for its outcome, in milliseconds',
  }),
  MAX_IN_FLIGHT_PER_KEY: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1000,
    description: 'Requests of one API key in flight at once, waiting ones too; further ones are answered 429',
  }),
  READ_MODEL_GRACE_SECONDS: Type.Integer({
    minimum: 5,
    maximum: 31_536_000,
    default: 3600,
    description: 'How long read models are kept that no process uses any more',
  }),
  READ_MODEL_SHARDS: Type.Integer({
    minimum: 1,
    maximum: 64,
    default: 1,
    description: 'Parts of the read models in Redis, each on one master of a cluster; at most one for each partition',
  }),
  PROJECTOR_STALL_SECONDS: Type.Integer({
    minimum: 1,
    maximum: 3600,
    default: 30,
    description: 'How long a projector may stand still before records that it could apply, until /livez fails',
  }),
  KAFKA_BROKERS: Type.Optional(
    Type.String({ pattern: '^[^,:\\s]+:\\d+(,[^,:\\s]+:\\d+)*$', description: 'host:port, several by comma' }),
  ),
  KAFKA_TOPIC: Type.String({
    pattern: '^[a-zA-Z0-9._-]{1,200}$',
    default: 'petstore.pets',
    description: 'letters, digits, dots, underscores and hyphens: the topic of the events',
  }),
  KAFKA_PARTITIONS: Type.Integer({ minimum: 1, maximum: 1000, default: 6, description: 'Partitions of the topic' }),
  KAFKA_TLS: Type.Boolean({ default: false, description: 'Whether to speak TLS with Kafka' }),
  KAFKA_TLS_CA_FILE: Type.Optional(Type.String({ description: 'Certificate authority of the brokers, PEM' })),
  KAFKA_SASL_MECHANISM: Type.Optional(
    Type.Enum(['plain', 'scram-sha-256', 'scram-sha-512'], { description: 'How to authenticate with Kafka' }),
  ),
  KAFKA_SASL_USERNAME: Type.Optional(Type.String({ description: 'User for SASL' })),
  KAFKA_SASL_PASSWORD: Type.Optional(Type.String({ description: 'Password for SASL' })),
  REDIS_URL: Type.Optional(
    Type.String({ pattern: '^rediss?://\\S+$', description: 'redis://… or, with TLS, rediss://…' }),
  ),
  REDIS_PREFIX: Type.String({
    pattern: '^[^{}\\s]+$',
    default: 'petstore',
    description: 'free of braces and white space: what all Redis keys begin with',
  }),
})

type Variables = Static<typeof Environment>

export interface KafkaConfig {
  readonly brokers: readonly string[]
  readonly topic: string
  readonly partitions: number
  /** True: the certificate authorities that Node knows. */
  readonly tls: true | { readonly ca: string } | undefined
  readonly sasl: { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string } | undefined
}
export type SaslMechanism = NonNullable<Variables['KAFKA_SASL_MECHANISM']>

export interface Config {
  readonly role: Variables['ROLE']
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly apiKeysFile: string
  readonly apiKeys: readonly string[]
  readonly logLevel: Variables['LOG_LEVEL']
  readonly appendTimeoutMs: number
  readonly maxInFlightPerKey: number
  readonly readModelGraceSeconds: number
  readonly readModelShards: number
  readonly projectorStallSeconds: number
  /** Undefined: everything is embedded. */
  readonly brokers:
    | { readonly kafka: KafkaConfig; readonly redis: { readonly url: string; readonly prefix: string } }
    | undefined
}

/** What is wrong with the environment, naming the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const checkEnvironment = compileCheck(Environment)

/** Throws ConfigError. An empty variable counts as one that is not set. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const variables = readVariables(environment)
  const brokers = readBrokers(variables)
  if (brokers === undefined && variables.ROLE !== 'all') {
    throw new ConfigError(
      `ROLE=${variables.ROLE} needs KAFKA_BROKERS and REDIS_URL: the embedded default is one process.`,
    )
  }
  refuseShards(variables, brokers)
  return Object.freeze({
    role: variables.ROLE,
    host: variables.HOST,
    port: variables.PORT,
    dataDir: variables.DATA_DIR,
    apiKeysFile: variables.API_KEYS_FILE ?? join(variables.DATA_DIR, 'api-keys.json'),
    apiKeys: list(variables.API_KEYS),
    logLevel: variables.LOG_LEVEL,
    appendTimeoutMs: variables.APPEND_TIMEOUT_MS,
    maxInFlightPerKey: variables.MAX_IN_FLIGHT_PER_KEY,
    readModelGraceSeconds: variables.READ_MODEL_GRACE_SECONDS,
    readModelShards: variables.READ_MODEL_SHARDS,
    projectorStallSeconds: variables.PROJECTOR_STALL_SECONDS,
    brokers,
  })
}

function refuseShards(
  { READ_MODEL_SHARDS: shards, KAFKA_PARTITIONS: partitions }: Variables,
  brokers: Config['brokers'],
): void {
  if (brokers === undefined && shards > 1) {
    throw new ConfigError(`READ_MODEL_SHARDS=${shards} needs KAFKA_BROKERS and REDIS_URL: embedded there is one.`)
  }
  if (shards > partitions) {
    throw new ConfigError(
      `READ_MODEL_SHARDS=${shards} is more than KAFKA_PARTITIONS=${partitions}: some would be empty.`,
    )
  }
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

function readBrokers(variables: Variables): Config['brokers'] {
  const { KAFKA_BROKERS: kafka, REDIS_URL: url, REDIS_PREFIX: prefix } = variables
  if (kafka === undefined && url === undefined) return undefined
  if (kafka === undefined)
    throw new ConfigError('REDIS_URL is set but KAFKA_BROKERS is not: set both, or none for the embedded default.')
  if (url === undefined)
    throw new ConfigError('KAFKA_BROKERS is set but REDIS_URL is not: set both, or none for the embedded default.')
  return { kafka: readKafka(variables, kafka), redis: { url, prefix } }
}

function readKafka(variables: Variables, brokers: string): KafkaConfig {
  return {
    brokers: list(brokers),
    topic: variables.KAFKA_TOPIC,
    partitions: variables.KAFKA_PARTITIONS,
    tls: variables.KAFKA_TLS ? readTls(variables.KAFKA_TLS_CA_FILE) : undefined,
    sasl: readSasl(variables),
  }
}

function readTls(caFile: string | undefined): KafkaConfig['tls'] {
  if (caFile === undefined) return true
  try {
    return { ca: readFileSync(caFile, 'utf8') }
  } catch (error) {
    throw new ConfigError(`KAFKA_TLS_CA_FILE cannot be read: ${(error as Error).message}`, { cause: error })
  }
}

function readSasl(variables: Variables): KafkaConfig['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username, KAFKA_SASL_PASSWORD: password } = variables
  if (mechanism === undefined) return undefined
  if (username === undefined || password === undefined) {
    throw new ConfigError('KAFKA_SASL_MECHANISM needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD.')
  }
  return { mechanism, username, password }
}

function list(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
