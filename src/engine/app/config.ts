import { BlockList, isIP } from 'node:net'
import { join } from 'node:path'
import type { Definition } from '../definition/definition.ts'
import { isLoopback } from '../http/wire/networks.ts'
import { environmentOf, readVariables } from './environment.ts'
import { SettingFiles } from './setting-files.ts'
import { readBrokers } from './storage/broker-settings.ts'
import { ConfigError, list } from './variables.ts'

export type Config = ReturnType<typeof readConfig>

/** Shorter keys can be guessed. */
const givenKeyLengthMin = 20

/** The topic has all kinds of streams, and its name that of the first. */
export function topicOf({ service, names }: Definition): string {
  return `${service.name}.${names.collections[0]}`
}

/** Throws ConfigError. An empty variable counts as not set. */
export function readConfig(definition: Definition, environment: NodeJS.ProcessEnv) {
  const variables = readVariables(
    environment,
    environmentOf({ topic: topicOf(definition), prefix: definition.service.name }),
  )
  const { ROLE: role, READ_MODEL_SHARDS: shards, KAFKA_PARTITIONS: partitions } = variables
  const settingFiles = new SettingFiles()
  const brokers = readBrokers(variables, settingFiles)
  if (brokers === undefined && role !== 'all') {
    throw new ConfigError(`ROLE=${role} needs KAFKA_BROKERS and REDIS_URL: embedded mode is a single process.`)
  }
  if (brokers === undefined && shards > 1) {
    throw new ConfigError(`READ_MODEL_SHARDS=${shards} needs KAFKA_BROKERS and REDIS_URL: embedded mode has one shard.`)
  }
  if (shards > partitions) {
    throw new ConfigError(
      `READ_MODEL_SHARDS=${shards} is more than KAFKA_PARTITIONS=${partitions}: some shards would be empty.`,
    )
  }
  const trustedProxies = list(variables.TRUST_PROXY)
  return Object.freeze({
    role,
    host: variables.HOST,
    port: variables.PORT,
    /** Undefined: the public port serves the probes. */
    adminPort: variables.ADMIN_PORT,
    /** Behind a proxy on this machine a loopback address is as public as any other. */
    probesInDetail: variables.ADMIN_PORT === undefined && isLoopback(variables.HOST) && trustedProxies.length === 0,
    /** Whether operators get the console: on the admin port where there is one. */
    hasConsole: variables.CONSOLE ?? brokers === undefined,
    corsOrigins: list(variables.CORS_ORIGINS).map(readOrigin),
    /** Empty: the address is not known. */
    publicUrl: readPublicUrl(variables.PUBLIC_URL),
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
    isTrustedProxy: readProxies(trustedProxies),
    readModelGraceSeconds: variables.READ_MODEL_GRACE_SECONDS,
    readModelShards: shards,
    projectorStallSeconds: variables.PROJECTOR_STALL_SECONDS,
    /** Undefined: everything is embedded. */
    brokers,
    /** Those that are read anew while the process runs. */
    settingFiles,
  })
}

function readGivenKeys(text: string | undefined): readonly string[] {
  const keys = list(text)
  if (keys.some((key) => key.length < givenKeyLengthMin)) {
    throw new ConfigError(`API_KEYS contains a key shorter than ${givenKeyLengthMin} characters: use longer keys.`)
  }
  return keys
}

/** An address to which a path can be appended. */
function readPublicUrl(text: string | undefined): string {
  if (text === undefined) return ''
  const address = readAddress(text)?.href.replace(/\/+$/, '')
  if (address === undefined || address.endsWith('/v1')) {
    throw new ConfigError(`PUBLIC_URL=${text} must be an address such as https://shop.example, without /v1.`)
  }
  return address
}

/** The origin as browsers send it: in lower case, and without the port that is the default of its scheme. */
function readOrigin(text: string): string {
  const url = readAddress(text)
  if (url === undefined || url.pathname !== '/' || url.hostname.includes('*')) {
    const form = 'origins such as https://shop.example, separated by commas'
    throw new ConfigError(`CORS_ORIGINS=${text} is not an origin: it must be ${form}.`)
  }
  return url.origin
}

/** An address of HTTP, without user, query and fragment. */
function readAddress(text: string): URL | undefined {
  const url = URL.parse(text)
  const isPlain = url !== null && !/[?#\s]/.test(text) && url.username === '' && url.password === ''
  return isPlain && /^https?:$/.test(url.protocol) ? url : undefined
}

function readRate(text: string | undefined) {
  if (text === undefined) return undefined
  const [requests = 1, seconds = 1] = text.split('/').map(Number)
  return { requests, seconds }
}

function readProxies(proxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList()
  for (const proxy of proxies) {
    const [, address = '', prefix] = /^([^/]*)(?:\/(.*))?$/.exec(proxy) ?? []
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
