import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Allowed, findForbidden, readSources } from './imports.ts'

/**
 * The architecture: dependencies point towards `lib`, only `app` knows an adapter, and generic parts know no pet. Each
 * line has a folder, the folders of `src` that it may import, and the packages.
 */
const table = readTable(`
  src/lib                | | @opentelemetry/api ajv pino typebox
  src/event-log          | lib |
  src/event-log/kafka    | event-log lib | kafkajs lz4-napi pino snappyjs
  src/event-log/sqlite   | event-log lib |
  src/read-models        | event-log lib | pino
  src/read-models/redis  | read-models event-log lib | cluster-key-slot ioredis pino
  src/read-models/sqlite | read-models event-log lib |
  src/projector          | event-log read-models lib | pino
  src/command-handling   | event-log read-models lib | uuid
  src/domain             | command-handling event-log read-models lib | typebox
  src/event-feed         | command-handling event-log projector read-models lib |
  projections            | domain projector |
  src/api-keys           | lib | pino typebox
  src/http               | api-keys command-handling domain event-feed event-log read-models lib \
                         | @fastify/bearer-auth @fastify/swagger @fastify/type-provider-typebox \
                           @opentelemetry/api fastify pino typebox
  src/app                | api-keys command-handling domain event-feed event-log event-log/kafka event-log/sqlite http lib \
                           projector read-models read-models/redis read-models/sqlite ../projections \
                         | fastify pino prom-client typebox
  src/cli                | api-keys app domain event-feed event-log projector read-models lib | cli-progress commander pino
  src                    | app cli lib projector | close-with-grace commander pino
`)

function readTable(text: string): Record<string, Allowed> {
  const lines = text.trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => {
      const [[folder = ''] = [], folders = [], packages = []] = line.split('|').map((cell) => cell.match(/\S+/g) ?? [])
      return [folder, { folders: folders.map((name) => join('src', name)), packages }]
    }),
  )
}

describe('imports', () => {
  it('follow the table, without a circle', () => {
    expect(findForbidden(readSources(['src', 'projections']), table)).toEqual([])
  })

  const http = readTable('src/lib | |\nsrc/http | |')
  const kafka = readTable('src/http | event-log |\nsrc/event-log | |\nsrc/event-log/kafka | |')
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
