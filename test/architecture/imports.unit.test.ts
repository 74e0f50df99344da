import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Allowed, findForbidden, readSources } from './imports.ts'

/**
 * The architecture: dependencies point towards `lib`, only `app` knows an adapter, and no part of the engine knows the store. Each
 * line has a folder, the folders of `src/engine` that it may import, and the packages.
 */
const table = readTable(`
  src/engine/lib                | | @opentelemetry/api ajv ajv-formats pino typebox
  src/engine/log                | lib |
  src/engine/log/kafka          | log lib | kafkajs lz4-napi pino snappyjs
  src/engine/log/sqlite         | log lib | pino
  src/engine/read-models        | log lib | pino
  src/engine/read-models/redis  | read-models log lib | cluster-key-slot ioredis pino
  src/engine/read-models/sqlite | read-models log lib | pino
  src/engine/definition         | log read-models lib | typebox
  src/engine/rule               | definition log read-models lib |
  src/engine/projector          | definition rule log read-models lib | pino
  src/engine/rebuilding         | projector log read-models lib | pino
  src/engine/commands           | definition rule log read-models lib | pino uuid
  src/engine/feed               | rule log read-models lib |
  src/engine/keys               | lib | pino typebox
  src/engine/http/values        | log lib | fastify typebox
  src/engine/http/wire          | http/values definition keys lib | fast-querystring fastify pino
  src/engine/http/guards        | http/values http/wire keys lib | @fastify/bearer-auth fastify
  src/engine/http/documents     | http/values http/wire definition lib | @fastify/swagger fastify typebox
  src/engine/http/routes        | http/values http/wire http/guards http/documents definition commands feed log read-models lib \
                                | @opentelemetry/api fastify
  src/engine/http               | http/values http/wire http/guards http/documents http/routes definition lib | fastify pino
  src/engine/operations         | definition rule rebuilding log read-models lib | pino
  src/engine/console            | definition rule feed http http/* log operations projector rebuilding read-models lib | fastify pino typebox
  src/engine/console/page       | console | preact
  src/engine/app                | . console definition keys commands feed log log/kafka log/sqlite http http/* lib projector read-models \
                                  read-models/redis read-models/sqlite | close-with-grace fastify pino prom-client typebox
  src/engine/cli                | app definition keys rule rebuilding feed log operations read-models lib \
                                | cli-progress commander pino typebox
  src/engine                    | app cli definition lib | typebox
  src/store                     | . ../../projections | typebox
  projections                   | . ../store |
  src                           | ../store |
`)

/** `http/*` stands for each folder within. */
function readTable(text: string): Record<string, Allowed> {
  const cells = text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.match(/\S+/g) ?? []))
  const own = cells.map(([[folder = ''] = []]) => folder)
  const within = (name: string) => own.filter((folder) => folder.startsWith(join('src/engine', name.slice(0, -1))))
  const named = (name: string) => (name.endsWith('/*') ? within(name) : [join('src/engine', name)])
  return Object.fromEntries(
    cells.map(([, folders = [], packages = []], i) => [own[i], { folders: folders.flatMap(named), packages }]),
  )
}

describe('imports', () => {
  it('follow the table, without a circle', () => {
    expect(findForbidden(readSources(['src', 'projections']), table)).toEqual([])
  })

  it('of a service name the door of the engine alone', () => {
    const sources = [...readSources(['src/store', 'projections', 'examples'])]
    const imported = sources.flatMap(([file, text]) =>
      [...text.matchAll(/from '([^']*\/engine\/[^']*)'/g)].map(([, name]) => [file, name]),
    )
    expect(imported.length).toBeGreaterThan(5)
    expect(imported.filter(([, name]) => !name?.endsWith('/engine/index.ts'))).toEqual([])
  })

  const http = readTable('src/engine/lib | |\nsrc/engine/http | |')
  const kafka = readTable('src/engine/http | log |\nsrc/engine/log | |\nsrc/engine/log/kafka | |')
  const notHttp = 'src/engine/lib must not import src/engine/http'
  const notKafkajs = 'src/engine/lib must not import the package kafkajs'
  /** Files, as the path and the text of each. */
  type Sample = [
    what: string,
    table: Record<string, Allowed>,
    problem: string,
    ...files: [path: string, text: string][],
  ]
  it.each<Sample>([
    ['a folder not in the table', http, 'src/new/a.ts: its folder', ['src/new/a.ts', '']],
    ['a folder that is not allowed', http, notHttp, ['src/engine/lib/a.ts', "import { b } from '../http/b.ts'"]],
    ['a type from such a folder', http, notHttp, ['src/engine/lib/a.ts', "import type {\n  B,\n} from '../http/b.ts'"]],
    ['what is passed on', http, notHttp, ['src/engine/lib/a.ts', "export { b } from '../http/b.ts'"]],
    [
      'a folder within one that is allowed',
      kafka,
      'src/engine/http must not import src/engine/log/kafka',
      ['src/engine/http/a.ts', "import { b } from '../log/kafka/b.ts'"],
    ],
    ['a package that is not allowed', http, notKafkajs, ['src/engine/lib/a.ts', "import { Kafka } from 'kafkajs'"]],
    [
      'what is imported when needed',
      http,
      notKafkajs,
      ['src/engine/lib/a.ts', "const { Kafka } = await import('kafkajs')"],
    ],
    ['what is imported for its effect', http, notKafkajs, ['src/engine/lib/a.ts', "import 'kafkajs'"]],
    [
      'a circle',
      http,
      'circle: src/engine/lib/a.ts -> src/engine/lib/b.ts -> src/engine/lib/a.ts',
      ['src/engine/lib/a.ts', "import { b } from './b.ts'"],
      ['src/engine/lib/b.ts', "import type { A } from './a.ts'"],
    ],
  ])('are refused: %s', (_, table, problem, ...files) => {
    expect(findForbidden(new Map(files), table).join('\n')).toContain(problem)
  })
})
