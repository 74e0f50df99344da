import { describe, expect, it } from 'vitest'
import { type Allowed, findForbidden, readSources } from './imports.ts'

const nothing: Allowed = { folders: [], packages: [] }

/** The architecture: dependencies point towards `lib`, only `app` knows an adapter, and generic parts know no pet. */
const table: Record<string, Allowed> = {
  src: {
    folders: ['src/app', 'src/cli', 'src/lib', 'src/projector'],
    packages: ['close-with-grace', 'commander', 'pino'],
  },
  'src/lib': { folders: [], packages: ['@opentelemetry/api', 'ajv', 'typebox', 'pino'] },
  'src/event-log': { folders: ['src/lib'], packages: [] },
  'src/event-log/kafka': {
    folders: ['src/event-log', 'src/lib'],
    packages: ['kafkajs', 'lz4-napi', 'pino', 'snappyjs'],
  },
  'src/event-log/sqlite': { folders: ['src/event-log', 'src/lib'], packages: [] },
  'src/read-models': { folders: ['src/event-log', 'src/lib'], packages: ['pino'] },
  'src/read-models/redis': {
    folders: ['src/read-models', 'src/event-log', 'src/lib'],
    packages: ['cluster-key-slot', 'ioredis', 'pino'],
  },
  'src/read-models/sqlite': { folders: ['src/read-models', 'src/event-log', 'src/lib'], packages: [] },
  'src/projector': { folders: ['src/event-log', 'src/read-models', 'src/lib'], packages: ['pino'] },
  'src/command-handling': { folders: ['src/event-log', 'src/read-models', 'src/lib'], packages: ['uuid'] },
  'src/domain': {
    folders: ['src/event-log', 'src/read-models', 'src/command-handling', 'src/lib'],
    packages: ['typebox'],
  },
  'src/event-feed': {
    folders: ['src/command-handling', 'src/event-log', 'src/projector', 'src/read-models', 'src/lib'],
    packages: [],
  },
  projections: { folders: ['src/domain', 'src/projector'], packages: [] },
  'src/http': {
    folders: [
      'src/api-keys',
      'src/command-handling',
      'src/domain',
      'src/event-feed',
      'src/event-log',
      'src/read-models',
      'src/lib',
    ],
    packages: [
      '@fastify/bearer-auth',
      '@fastify/cors',
      'pino',
      '@fastify/swagger',
      '@fastify/type-provider-typebox',
      '@opentelemetry/api',
      'fastify',
      'typebox',
    ],
  },
  'src/api-keys': { folders: ['src/lib'], packages: ['pino', 'typebox'] },
  'src/cli': {
    folders: [
      'src/app',
      'src/api-keys',
      'src/domain',
      'src/event-feed',
      'src/event-log',
      'src/projector',
      'src/read-models',
      'src/lib',
    ],
    packages: ['cli-progress', 'commander', 'pino'],
  },
  'src/app': {
    folders: [
      'src/api-keys',
      'src/command-handling',
      'src/domain',
      'src/event-feed',
      'src/event-log',
      'src/event-log/kafka',
      'src/event-log/sqlite',
      'src/http',
      'src/lib',
      'src/projector',
      'src/read-models',
      'src/read-models/redis',
      'src/read-models/sqlite',
      'projections',
    ],
    packages: ['fastify', 'pino', 'prom-client', 'typebox'],
  },
}

describe('imports', () => {
  it('follow the table, without a circle', () => {
    expect(findForbidden(readSources(['src', 'projections']), table)).toEqual([])
  })

  const http = { 'src/lib': nothing, 'src/http': nothing }
  const kafka = {
    'src/http': { folders: ['src/event-log'], packages: [] },
    'src/event-log': nothing,
    'src/event-log/kafka': nothing,
  }
  const notHttp = 'src/lib must not import src/http'
  const notKafkajs = 'src/lib must not import the package kafkajs'
  /** Files, as the path and the text of each. */
  type Sample = [
    what: string,
    table: Record<string, Allowed>,
    problem: string,
    ...files: [path: string, text: string][],
  ]
  it.each<Sample>([
    ['a folder not in the table', http, 'src/new/a.ts: its folder', ['src/new/a.ts', '']],
    ['a folder that is not allowed', http, notHttp, ['src/lib/a.ts', "import { b } from '../http/b.ts'"]],
    ['a type from such a folder', http, notHttp, ['src/lib/a.ts', "import type {\n  B,\n} from '../http/b.ts'"]],
    ['what is passed on', http, notHttp, ['src/lib/a.ts', "export { b } from '../http/b.ts'"]],
    [
      'a folder within one that is allowed',
      kafka,
      'src/http must not import src/event-log/kafka',
      ['src/http/a.ts', "import { b } from '../event-log/kafka/b.ts'"],
    ],
    ['a package that is not allowed', http, notKafkajs, ['src/lib/a.ts', "import { Kafka } from 'kafkajs'"]],
    ['what is imported when needed', http, notKafkajs, ['src/lib/a.ts', "const { Kafka } = await import('kafkajs')"]],
    ['what is imported for its effect', http, notKafkajs, ['src/lib/a.ts', "import 'kafkajs'"]],
    [
      'a circle',
      http,
      'circle: src/lib/a.ts -> src/lib/b.ts -> src/lib/a.ts',
      ['src/lib/a.ts', "import { b } from './b.ts'"],
      ['src/lib/b.ts', "import type { A } from './a.ts'"],
    ],
  ])('are refused: %s', (_, table, problem, ...files) => {
    expect(findForbidden(new Map(files), table).join('\n')).toContain(problem)
  })
})
