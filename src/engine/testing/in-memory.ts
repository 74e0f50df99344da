import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Storage } from '../app/storage/storage.ts'
import { defined } from '../define-service.ts'
import type { Definition } from '../definition/definition.ts'
import { exactJson, parseExactJson } from '../lib/values/exact-json.ts'
import type { Int64 } from '../lib/values/int64.ts'
import type { Program } from '../program.ts'
import { loadService } from './load-service.ts'
import { MemoryData } from './memory/memory-data.ts'
import { MemoryEventLog, MemoryLogData } from './memory/memory-event-log.ts'
import { openMemoryReadModels } from './memory/memory-store.ts'
import { operationsOf } from './operations.ts'
import { untilReady } from './until-ready.ts'

/** What an operation is asked. */
export interface Asked {
  /** The id of the document in the path. */
  readonly id?: Int64
  readonly body?: object
  readonly query?: Readonly<Record<string, string>>
  /** Such as `if-match`, or `idempotency-key`. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** Undefined if it is empty. */
  readonly body: unknown
}

export interface InMemory extends AsyncDisposable {
  /**
   * Asks an operation, which sees what came of those before. Ids are drawn from 1 on. Throws an Error with what the log says
   * of it if the answer is 500: then the service is wrong, and not what it was asked.
   */
  run(operationId: string, asked?: Asked): Promise<Answer>
  /** The document, as GET has it. */
  find(collection: string, id: Int64): Promise<object | undefined>
}

/**
 * The service as it runs, from its routes to its read models, over a log and read models in memory: no port is opened, and
 * no file. Throws an Error with words that say why, unless the program can be run as it is defined.
 */
export async function openInMemory({ service }: Pick<Program, 'service'>): Promise<InMemory> {
  const definition = defined(service)
  const { pino, readConfig, openService } = await loadService()
  const key = randomUUID()
  const nowhere = join(tmpdir(), randomUUID())
  const config = readConfig(definition, { API_KEYS: key, DATA_DIR: nowhere, CONSOLE: 'false' })
  const logged: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void logged.push(line) })
  const opened = await openService(definition, config, memoryStorage(definition), logger, { lost: 0, warnings: [] })
  const operations = operationsOf(definition)
  let token: string | undefined

  async function run(operationId: string, { id, body, query = {}, headers = {} }: Asked = {}): Promise<Answer> {
    const operation = operations.get(operationId)
    if (operationId === 'followEvents') throw new Error('followEvents has no end: follow it with startForTest')
    if (operation === undefined) throw unknown('operation', operationId, operations.keys())
    const { method, path } = operation
    if (path.includes('/:') !== (id !== undefined))
      throw new Error(`${operationId} ${id === undefined ? 'needs an' : 'has no'} id`)
    const answer = await opened.app.inject({
      method,
      url: path.replace(/:\w+/, String(id)),
      query: { ...query },
      ...(body && { payload: exactJson(body) }),
      headers: {
        authorization: `Bearer ${key}`,
        ...(body && { 'content-type': 'application/json' }),
        ...(token && { 'consistency-token': token }),
        ...headers,
      },
    })
    if (answer.statusCode === 500) throw new Error(`${operationId} is answered with 500: ${reasonIn(logged.at(-1))}`)
    token = answer.headers['consistency-token']?.toString() ?? token
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body === '' ? undefined : parseExactJson(answer.body),
    }
  }

  async function find(collection: string, id: Int64): Promise<object | undefined> {
    const resource = definition.resources.find((each) => each.collection === collection)
    if (resource === undefined) throw unknown('collection', collection, Object.keys(service.resources))
    const { status, body } = await run(resource.find.operationId, { id })
    if (status === 404) return undefined
    if (status !== 200) throw new Error(`${collection} ${id} cannot be found: ${exactJson(body as object)}`)
    return body as object
  }

  await untilReady(async () => {
    const { statusCode: status, body } = await opened.app.inject('/readyz')
    return { status, body }
  })
  return { run, find, [Symbol.asyncDispose]: () => opened.close(async () => {}) }
}

function memoryStorage({ version, names }: Definition): Storage {
  const log = new MemoryEventLog(new MemoryLogData(1))
  const data = new MemoryData()
  const store = openMemoryReadModels({ names, version, data })
  return {
    log,
    stores: [store],
    versions: [version],
    openVersion: async (each) => openMemoryReadModels({ names, version: each, data }),
    openPublished: () => [],
    group: 'projector',
    async close() {
      await store.close()
      await log.close()
    },
  }
}

/** What a line of the log says, with where it happened. */
function reasonIn(line = '{}'): string {
  const { msg, err } = JSON.parse(line)
  return err?.stack ?? msg
}

function unknown(what: string, name: string, known: Iterable<string>): Error {
  return new Error(`there is no ${what} ${name}: there is ${[...known].join(', ')}`)
}
