import { describe, expect, it } from 'vitest'
import { type Allowed, findForbidden, readSources } from './imports.ts'

const nothing: Allowed = { folders: [], packages: [] }

/** The architecture: dependencies point towards `lib`, only `app` knows an adapter, and generic parts know no pet. */
const table: Record<string, Allowed> = {
  src: {
    folders: ['src/app', 'src/cli', 'src/lib', 'src/projector'],
    packages: ['close-with-grace', 'commander', 'pino'],
  },
  'src/lib': { folders: [], packages: ['ajv', 'typebox', 'pino'] },
  'src/event-log': { folders: ['src/lib'], packages: [] },
  'src/event-log/kafka': { folders: ['src/event-log', 'src/lib'], packages: ['kafkajs', 'pino'] },
  'src/event-log/sqlite': { folders: ['src/event-log', 'src/lib'], packages: [] },
  'src/read-models': { folders: ['src/event-log', 'src/lib'], packages: ['pino'] },
  'src/read-models/redis': {
    folders: ['src/read-models', 'src/event-log', 'src/lib'],
    packages: ['cluster-key-slot', 'ioredis', 'pino'],
  },
  'src/read-models/sqlite': { folders: ['src/read-models', 'src/event-log', 'src/lib'], packages: [] },
  'src/projector': { folders: ['src/event-log', 'src/read-models', 'src/lib'], packages: ['pino'] },
  'src/command-handling': {
    folders: ['src/event-log', 'src/read-models', 'src/domain', 'src/lib'],
    packages: ['uuid'],
  },
  'src/domain': {
    folders: ['src/event-log', 'src/read-models', 'src/command-handling', 'src/lib'],
    packages: ['typebox'],
  },
  projections: { folders: ['src/domain', 'src/projector'], packages: [] },
  'src/http': {
    folders: ['src/command-handling', 'src/domain', 'src/event-log', 'src/read-models', 'src/lib'],
    packages: [
      '@fastify/bearer-auth',
      '@fastify/swagger',
      '@fastify/swagger-ui',
      '@fastify/type-provider-typebox',
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
      'src/event-log',
      'src/projector',
      'src/read-models',
      'src/lib',
      'projections',
    ],
    packages: ['cli-progress', 'commander', 'pino'],
  },
  'src/app': {
    folders: [
      'src/api-keys',
      'src/command-handling',
      'src/domain',
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
    packages: ['pino', 'prom-client', 'typebox'],
  },
}

describe('imports', () => {
  it('follow the table, without a circle', () => {
    expect(findForbidden(readSources(['src', 'projections']), table)).toEqual([])
  })

  const samples: Record<string, [sources: Record<string, string>, table: Record<string, Allowed>, problem: string]> = {
    'a folder that is not in the table': [{ 'src/new/a.ts': '' }, { 'src/lib': nothing }, 'src/new/a.ts: its folder'],
    'a folder that is not allowed': [
      { 'src/lib/a.ts': "import { b } from '../http/b.ts'", 'src/http/b.ts': '' },
      { 'src/lib': nothing, 'src/http': nothing },
      'src/lib must not import src/http',
    ],
    'a type from a folder that is not allowed': [
      { 'src/lib/a.ts': "import type {\n  B,\n} from '../http/b.ts'", 'src/http/b.ts': '' },
      { 'src/lib': nothing, 'src/http': nothing },
      'src/lib must not import src/http',
    ],
    'what is passed on': [
      { 'src/lib/a.ts': "export { b } from '../http/b.ts'", 'src/http/b.ts': '' },
      { 'src/lib': nothing, 'src/http': nothing },
      'src/lib must not import src/http',
    ],
    'a folder within one that is allowed': [
      { 'src/http/a.ts': "import { b } from '../event-log/kafka/b.ts'", 'src/event-log/kafka/b.ts': '' },
      {
        'src/http': { folders: ['src/event-log'], packages: [] },
        'src/event-log': nothing,
        'src/event-log/kafka': nothing,
      },
      'src/http must not import src/event-log/kafka',
    ],
    'a package that is not allowed': [
      { 'src/lib/a.ts': "import { Kafka } from 'kafkajs'" },
      { 'src/lib': nothing },
      'src/lib must not import the package kafkajs',
    ],
    'a module that is imported when it is needed': [
      { 'src/lib/a.ts': "const { Kafka } = await import('kafkajs')" },
      { 'src/lib': nothing },
      'src/lib must not import the package kafkajs',
    ],
    'a module that is imported for its effect': [
      { 'src/lib/a.ts': "import 'kafkajs'" },
      { 'src/lib': nothing },
      'src/lib must not import the package kafkajs',
    ],
    'a circle': [
      { 'src/lib/a.ts': "import { b } from './b.ts'", 'src/lib/b.ts': "import type { A } from './a.ts'" },
      { 'src/lib': nothing },
      'circle: src/lib/a.ts -> src/lib/b.ts -> src/lib/a.ts',
    ],
  }
  for (const [what, [sources, allowed, problem]] of Object.entries(samples)) {
    it(`are refused: ${what}`, () => {
      expect(findForbidden(new Map(Object.entries(sources)), allowed).join('\n')).toContain(problem)
    })
  }
})
