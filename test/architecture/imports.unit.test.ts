import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Allowed, findForbidden, readSources } from './imports.ts'

/**
 * The architecture: dependencies point towards `lib`, only `app` knows an adapter, and no part of the engine knows the store. Each
 * line has a folder, the folders of `src/engine` that it may import, and the packages.
 */
const table = readTable(`
  src/engine/lib/errors         | lib |
  src/engine/lib/operating      | lib lib/errors | @opentelemetry/api pino
  src/engine/lib/values         | lib lib/errors | ajv ajv-formats typebox
  src/engine/lib                | lib/errors | pino
  src/engine/door               | lib/errors lib/values | typebox
  src/engine/log                | lib lib/* |
  src/engine/log/kafka          | log lib lib/* | kafkajs lz4-napi pino snappyjs
  src/engine/log/kafka/publishing | log log/kafka lib lib/* | kafkajs pino
  src/engine/log/sqlite         | log lib lib/* | pino
  src/engine/read-models        | log lib lib/* | pino
  src/engine/read-models/redis  | read-models log lib lib/* | cluster-key-slot ioredis pino
  src/engine/read-models/sqlite | read-models log lib lib/* | pino
  src/engine/definition         | door log read-models lib lib/* | typebox
  src/engine/rule               | door definition log read-models lib lib/* |
  src/engine/projector          | door definition rule log read-models lib lib/* | pino
  src/engine/publishing         | definition door rule projector log read-models lib lib/* | pino
  src/engine/rebuilding         | projector log read-models lib lib/* | pino
  src/engine/commands           | door definition rule log read-models lib lib/* | pino uuid
  src/engine/feed               | rule log read-models lib lib/* |
  src/engine/api-keys           | lib lib/* | pino typebox
  src/engine/http/values        | log lib lib/* | fastify typebox
  src/engine/http/wire          | http/values door definition api-keys lib lib/* | fast-querystring fastify pino
  src/engine/http/guards        | http/values http/wire api-keys lib lib/* | @fastify/bearer-auth fastify
  src/engine/http/documents     | http/values http/wire door definition lib lib/* | @fastify/swagger fastify typebox
  src/engine/http/routes        | http/values http/wire http/guards http/documents door definition commands feed log read-models lib lib/* \
                                | @opentelemetry/api fastify
  src/engine/http               | http/* door definition lib lib/* | fastify pino
  src/engine/operations         | definition rule rebuilding log read-models lib lib/* | pino
  src/engine/console            | door definition rule feed http http/* log operations projector rebuilding read-models lib lib/* \
                                | fastify pino typebox
  src/engine/console/page       | console | preact
  src/engine/app/storage        | app definition log log/* read-models read-models/* lib lib/* | pino typebox
  src/engine/app                | app/storage console door definition api-keys commands feed log http http/* projector publishing read-models lib lib/* \
                                | close-with-grace fastify pino prom-client typebox
  src/engine/cli                | app app/storage door definition api-keys rule rebuilding feed log operations read-models lib lib/* \
                                | cli-progress commander pino typebox
  src/engine/testing            | . testing/memory app app/storage commands definition door rule log read-models lib lib/* | pino
  src/engine/testing/memory     | log log/kafka read-models lib lib/* |
  src/engine                    | app cli definition door lib/errors lib/values | typebox
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
