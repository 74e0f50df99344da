import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { ConfigError } from '../../../src/engine/app/variables.ts'
import { current } from '../../../src/engine/lib/changing.ts'
import { theatre } from '../theatre/theatre.ts'

const folder = mkdtempSync(join(tmpdir(), 'theatre-config-'))
afterAll(() => rmSync(folder, { recursive: true }))
const pem = join(folder, 'pem')
writeFileSync(pem, '-----BEGIN CERTIFICATE-----')
const brokers = { KAFKA_BROKERS: 'a:9092, b:9093', REDIS_URL: 'redis://localhost' }

describe('configuration', () => {
  it('without variables is the embedded default, and cannot be changed', () => {
    const config = readConfig(theatre, {})
    expect(config).toMatchObject({ role: 'all', host: '127.0.0.1', port: 3000, dataDir: './data', brokers: undefined })
    expect(config.apiKeysFile).toBe('data/api-keys.json')
    expect(Object.isFrozen(config)).toBe(true)
  })

  it('reads how long a projector may stand still, an hour at most', () => {
    expect(readConfig(theatre, { PROJECTOR_STALL_SECONDS: '3600' }).projectorStallSeconds).toBe(3600)
  })

  it('reads brokers, TLS and SASL', () => {
    const { brokers: read } = readConfig(theatre, {
      ...brokers,
      KAFKA_PARTITIONS: '3',
      KAFKA_REPLICATION_FACTOR: '2',
      KAFKA_TLS: 'true',
      KAFKA_SASL_MECHANISM: 'plain',
      KAFKA_SASL_USERNAME: 'u',
      KAFKA_SASL_PASSWORD: 'p',
    })
    expect(read).toEqual({
      kafka: {
        brokers: ['a:9092', 'b:9093'],
        topic: 'theatre.seats',
        partitions: 3,
        replicationFactor: 2,
        tls: true,
        sasl: { mechanism: 'plain', username: 'u', password: 'p' },
      },
      redis: { url: 'redis://localhost', prefix: 'theatre' },
      publishers: ['events', 'documents'],
    })
  })

  it('reads what is to be published', () => {
    const read = (PUBLISH: string) => readConfig(theatre, { ...brokers, PUBLISH }).brokers?.publishers
    expect(['none', 'documents', 'documents, events', ''].map(read)).toEqual([
      [],
      ['documents'],
      ['documents', 'events'],
      ['events', 'documents'],
    ])
    for (const each of ['events,none', 'events,events', 'rows']) expect(() => read(each)).toThrow(/PUBLISH must be/)
  })

  it('reads brokers with an IPv6 address', () => {
    const addresses = '[::1]:9092, [fe80::1%eth0]:9093,a:9094'
    expect(readConfig(theatre, { ...brokers, KAFKA_BROKERS: addresses }).brokers?.kafka.brokers).toEqual([
      '[::1]:9092',
      '[fe80::1%eth0]:9093',
      'a:9094',
    ])
  })

  it('reads certificates of Kafka and of Redis', () => {
    const read = readConfig(theatre, {
      ...{ KAFKA_BROKERS: 'a:9092', KAFKA_TLS: 'true', KAFKA_TLS_CERT_FILE: pem, KAFKA_TLS_KEY_FILE: pem },
      ...{ REDIS_URL: 'rediss://localhost', REDIS_TLS_CA_FILE: pem },
    })
    const text = expect.stringContaining('-----BEGIN ')
    expect(read.brokers?.kafka.tls).toEqual(expect.any(Function))
    expect(current<object | true>(read.brokers?.kafka.tls ?? {})).toEqual({ cert: text, key: text })
    expect(read.brokers?.redis.tls?.()).toEqual({ ca: text })
  })

  it('treats an empty variable as not set', () => {
    expect(readConfig(theatre, { PORT: '', API_KEYS: '', KAFKA_BROKERS: '' })).toMatchObject({
      port: 3000,
      apiKeys: [],
    })
  })

  it('reads origins as browsers send them', () => {
    const given = 'https://Shop.example:443/, http://localhost:8080,,https://b\u00fccher.example'
    expect(readConfig(theatre, { CORS_ORIGINS: given }).corsOrigins).toEqual([
      'https://shop.example',
      'http://localhost:8080',
      'https://xn--bcher-kva.example',
    ])
  })

  it('reads PUBLIC_URL without the slash at its end', () => {
    expect(readConfig(theatre, {}).publicUrl).toBe('')
    expect(readConfig(theatre, { PUBLIC_URL: 'HTTPS://Theatre.example:443/Shop//' }).publicUrl).toBe(
      'https://theatre.example/Shop',
    )
    expect(readConfig(theatre, { PUBLIC_URL: 'https://theatre.example/' }).publicUrl).toBe('https://theatre.example')
    expect(readConfig(theatre, { PUBLIC_URL: 'http://127.0.0.1:8080/seats/' }).publicUrl).toBe(
      'http://127.0.0.1:8080/seats',
    )
  })

  it.each([
    ['PORT', { PORT: 'eighty' }],
    ['PORT', { PORT: '65536' }],
    ['PORT', { PORT: '80.5' }],
    ['ROLE', { ROLE: 'reader' }],
    ['ROLE', { ROLE: 'api' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
    ['APPEND_TIMEOUT_MS', { APPEND_TIMEOUT_MS: '5s' }],
    ['PROJECTOR_STALL_SECONDS', { PROJECTOR_STALL_SECONDS: '0' }],
    ['PROJECTOR_STALL_SECONDS', { PROJECTOR_STALL_SECONDS: '3601' }],
    ['PROJECTOR_STALL_SECONDS', { PROJECTOR_STALL_SECONDS: '1.5' }],
    ['TRUST_PROXY', { TRUST_PROXY: 'proxy.example' }],
    ['TRUST_PROXY', { TRUST_PROXY: '10.0.0.0/33' }],
    ['TRUST_PROXY', { TRUST_PROXY: '10.0.0.0/' }],
    ['MAX_CONNECTIONS', { MAX_CONNECTIONS: '0' }],
    ['REDIS_URL', { KAFKA_BROKERS: 'a:9092' }],
    ['KAFKA_BROKERS', { REDIS_URL: 'redis://localhost' }],
    ...[
      'a',
      'a:0',
      'a:70000',
      '::1:9092',
      '[::1',
      '[::1]',
      '[::1]:0',
      '[::1]:70000',
      '[::g]:9092',
      '[a]:9092',
      '[::1]a:9092',
    ].map((addresses) => ['KAFKA_BROKERS', { ...brokers, KAFKA_BROKERS: addresses }] as [string, NodeJS.ProcessEnv]),
    ['REDIS_URL', { ...brokers, REDIS_URL: 'http://localhost' }],
    ...[
      'redis://',
      'redis://localhost:99999',
      'redis://localhost:six',
      'redis://localhost/seats',
      'redis://:%zz@a',
      'rediss://a b',
    ].map((url) => ['REDIS_URL', { ...brokers, REDIS_URL: url }] as [string, NodeJS.ProcessEnv]),
    ['KAFKA_TOPIC', { ...brokers, KAFKA_TOPIC: 'seats and more' }],
    ['KAFKA_PARTITIONS', { ...brokers, KAFKA_PARTITIONS: '0' }],
    ['KAFKA_REPLICATION_FACTOR', { ...brokers, KAFKA_REPLICATION_FACTOR: '0' }],
    ['KAFKA_TLS', { ...brokers, KAFKA_TLS: 'yes' }],
    ['KAFKA_TLS_CA_FILE', { ...brokers, KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: '/does/not/exist' }],
    ['KAFKA_TLS_CA_FILE', { ...brokers, KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: 'package.json' }],
    ['KAFKA_TLS_CA_FILE', { ...brokers, KAFKA_TLS_CA_FILE: pem }],
    ['KAFKA_TLS_CERT_FILE', { ...brokers, KAFKA_TLS: 'true', KAFKA_TLS_KEY_FILE: pem }],
    ['KAFKA_TLS_KEY_FILE', { ...brokers, KAFKA_TLS: 'true', KAFKA_TLS_CERT_FILE: pem }],
    ['REDIS_TLS_CA_FILE', { ...brokers, REDIS_TLS_CA_FILE: pem }],
    ['REDIS_URL', { ...brokers, REDIS_TLS_CA_FILE: pem }],
    ['KAFKA_SASL_MECHANISM', { ...brokers, KAFKA_SASL_USERNAME: 'u' }],
    ['KAFKA_SASL_PASSWORD', { ...brokers, KAFKA_SASL_PASSWORD: 'p' }],
    ['KAFKA_TLS', { ...brokers, KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u', KAFKA_SASL_PASSWORD: 'p' }],
    ['API_KEYS', { API_KEYS: 'a-key-of-more-than-20-characters, short' }],
    ['ADMIN_PORT', { ADMIN_PORT: '65536' }],
    ['CORS_ORIGINS', { CORS_ORIGINS: '*' }],
    ...['https://shop.example/path', 'https://*.shop.example', 'shop.example', 'null', 'https://a.example?x'].map(
      (origin): [string, NodeJS.ProcessEnv] => ['CORS_ORIGINS', { CORS_ORIGINS: `https://shop.example,${origin}` }],
    ),
    ['CORS_ORIGINS', { CORS_ORIGINS: 'https://user@shop.example' }],
    ['TRUST_PROXY', { TRUST_PROXY: '10.0.0.0/8/8' }],
    ['KAFKA_BROKERS', { ...brokers, KAFKA_BROKERS: 'a:65536' }],
    ['KAFKA_BROKERS', { ...brokers, KAFKA_BROKERS: 'a:0' }],
    ['KAFKA_TOPIC', { ...brokers, KAFKA_TOPIC: '..' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://theatre.example/shop/v1/' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'theatre.example:443/shop' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'theatre.example' }],
    ['PUBLIC_URL', { PUBLIC_URL: '/v1' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'ftp://theatre.example' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://theatre.example?a=b' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://theatre.example/#' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://user:secret@theatre.example' }],
    ['RATE_LIMIT', { RATE_LIMIT: '100' }],
    ['RATE_LIMIT', { RATE_LIMIT: '0/10' }],
    ['LOG_REQUESTS', { LOG_REQUESTS: 'all' }],
    ['KAFKA_SASL_MECHANISM', { ...brokers, KAFKA_SASL_MECHANISM: 'kerberos' }],
    ['KAFKA_SASL_PASSWORD', { ...brokers, KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'u' }],
    ['READ_MODEL_SHARDS', { ...brokers, READ_MODEL_SHARDS: '0' }],
    ['READ_MODEL_SHARDS', { ...brokers, KAFKA_PARTITIONS: '100', READ_MODEL_SHARDS: '65' }],
    ['READ_MODEL_SHARDS', { ...brokers, KAFKA_PARTITIONS: '3', READ_MODEL_SHARDS: '4' }],
    ['READ_MODEL_SHARDS', { READ_MODEL_SHARDS: '2' }],
    ['REDIS_PREFIX', { ...brokers, REDIS_PREFIX: 'a{b}' }],
  ])('a bad %s is refused and named', (name, environment) => {
    expect(() => readConfig(theatre, environment)).toThrow(ConfigError)
    expect(() => readConfig(theatre, environment)).toThrow(name)
  })
})

it.each([
  [{}, true],
  [{ HOST: 'localhost' }, true],
  [{ HOST: '::1' }, true],
  [{ HOST: '0.0.0.0' }, false],
  [{ HOST: '127.0.0.1.example.com' }, false],
  [{ ADMIN_PORT: '3001' }, false],
  [{ TRUST_PROXY: '127.0.0.1' }, false],
])('%j lets probes on PORT give details: %s', (environment, probesInDetail) => {
  expect(readConfig(theatre, environment)).toMatchObject({ probesInDetail })
})
