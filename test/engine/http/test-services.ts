import type { HTTPMethods, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type { CommandOptions } from '../../../src/engine/commands/command-handler.ts'
import type { CommandHandlers } from '../../../src/engine/commands/execution.ts'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import type { FeedQuery, FeedStep } from '../../../src/engine/feed/event-feed.ts'
import { type AppOptions, type AppServices, buildApp } from '../../../src/engine/http/app.ts'
import type { FindKey } from '../../../src/engine/http/guards/auth.ts'
import { InFlightLimit, type Rate, RateLimit } from '../../../src/engine/http/guards/key-limits.ts'
import { RequestTurns } from '../../../src/engine/http/guards/request-turns.ts'
import type { RouteServices } from '../../../src/engine/http/routes/resource.ts'
import { Traffic } from '../../../src/engine/http/wire/traffic.ts'
import { shownEvents } from '../../../src/engine/log/shown-event.ts'
import type { StoredDocument } from '../../../src/engine/read-models/document.ts'
import type { AtLeast } from '../../../src/engine/read-models/read-model.ts'
import { rowsMark } from '../../../src/engine/read-models/row-place.ts'
import { added, applyAll, firstBatch } from '../read-models/contract/samples.ts'
import { openInMemory } from '../service-in-memory.ts'
import { theatre } from '../theatre/theatre.ts'

export const key = 'test-key'
export const authorization = `Bearer ${key}`
/** The key of somebody else. */
export const otherKey = 'other-key'
/** The log that the tokens of `TestServices` belong to. */
export const tokenScope = { logId: 'f00dcafe-1', partitions: 6 }

type Events = RouteServices['events']

/** What a test says of them, and finds out. */
class Scene {
  /** The types of the events in the log. */
  readonly events: string[] = []
  /** What commands were to be handled with, what reads were asked to have in their answers, and what was followed. */
  readonly handled: CommandOptions[] = []
  readonly atLeast: (AtLeast | undefined)[] = []
  readonly followed: FeedQuery[] = []
  readonly keys = new Map(Object.entries({ [key]: 'key-1', [otherKey]: 'key-2' }))
  scopes: ReadonlySet<string>
  isReadable = true
  isDraining = false
  isLive = true
  isReady = true
  time = '2026-11-20T09:30:00.000Z'
  /** To fail, or to be waited for. */
  beforeRead: () => Promise<void> | void = () => {}
  beforeCommand: (options: CommandOptions) => Promise<void> | void = () => {}
  steps: () => AsyncGenerator<FeedStep> = async function* () {}

  constructor({ scopes }: Pick<Definition, 'scopes'>) {
    this.scopes = new Set(scopes)
  }
}

/**
 * The services of an API process in memory, all in partition 0. Reads are not told what a token asks for: what the read
 * model does about it is for its own tests. Each part can be replaced by a test.
 */
export class TestServices extends Scene implements AppServices {
  readonly #definition: Definition
  #parts: ReturnType<typeof openInMemory>
  #stored = 0
  /** What an app asks for once, when it is built. */
  rate: Rate | undefined
  maxInFlightPerKey = 1000

  readonly readModel: RouteServices['readModel'] = {
    find: async (document, atLeast) => (await this.#beginRead(atLeast)).readModel.find(document),
    page: async (query, atLeast) => (await this.#beginRead(atLeast)).readModel.page(query),
    count: async (query, atLeast) => (await this.#beginRead(atLeast)).readModel.count(query),
  }
  readonly commands: CommandHandlers = (kind) => ({
    handle: async (command, options) => {
      this.handled.push(options)
      await this.beforeCommand(options)
      const { commands } = await this.#parts
      return await commands(kind).handle(command, options)
    },
  })
  readonly feed: { -readonly [Name in keyof Events]: Events[Name] } = {
    history: async (stream, page, reader, atLeast) =>
      (await this.#beginRead(atLeast)).feed.history(stream, page, reader),
    follow: async (query) => {
      this.followed.push(query)
      return this.steps()
    },
  }
  findKey: FindKey = (candidate) => {
    const owner = this.keys.get(candidate)
    return owner === undefined ? undefined : { keyId: owner, owner, scopes: this.scopes }
  }
  get api() {
    const { readModel, commands, feed: events, maxInFlightPerKey } = this
    const definition = this.#definition
    return {
      definition,
      log: tokenScope,
      readModel,
      commands,
      events,
      inFlight: new InFlightLimit(maxInFlightPerKey),
      turns: new RequestTurns(),
      findKey: (...asked: Parameters<FindKey>) => this.findKey(...asked),
      isKeyValid: (keyId: string) => this.keys.values().some((owner) => owner === keyId),
      rate: this.rate && new RateLimit(this.rate),
      topic: `${definition.service.name}.${definition.names.collections[0]}`,
    }
  }
  readonly health = {
    live: () => ({ live: this.isLive, checks: { projector: { status: this.isLive ? 'ok' : 'stalled' } } }),
    ready: async () => ({ ready: this.isReady, checks: { eventLog: { status: this.isReady ? 'ok' : 'down' } } }),
  }
  readonly traffic = new Traffic()
  readonly metrics = {
    contentType: 'text/plain; version=0.0.4; charset=utf-8',
    text: async () => 'theatre_parked_events 3\n',
  }
  readonly draining = () => this.isDraining

  constructor(definition: Definition) {
    super(definition)
    this.#definition = definition
    this.#parts = this.#open()
  }

  /** What the first command makes of this body. Takes effect before whatever is asked next. */
  add(body: object): void {
    const [first] = this.#definition.commands
    this.#next(async ({ commands }) => {
      const options = { stream: 'new', owner: '', wait: { timeoutMs: 1000 } } as const
      await commands(this.#definition.kinds[0]).handle((drawn) => first?.command({ ...drawn, body }), options)
    })
  }

  /** As `add`; without a stream that it shows. */
  store(document: Omit<StoredDocument, 'behind'>): void {
    const stored = firstBatch({ documents: added({ ...document, behind: rowsMark }) }, ++this.#stored)
    this.#next(({ store }) => applyAll(store, 'generation', stored))
  }

  /** For the next test. */
  reset(): void {
    Object.assign(this, new Scene(this.#definition))
    void this.#parts.then(({ appender }) => appender.close())
    this.#parts = this.#open()
  }

  #open() {
    const now = () => Object.assign(new Date(this.time), { toISOString: () => this.time }) // as another producer writes it
    const { events } = this
    return openInMemory(this.#definition, {
      now,
      heard: () => (this.isReadable ? 'applied' : 'late'),
      appended: ({ value }) =>
        void events.push(...shownEvents(value).map((each) => JSON.parse(each).type.split('.')[1])),
    })
  }

  #next(act: (parts: Awaited<ReturnType<typeof openInMemory>>) => Promise<void>): void {
    this.#parts = this.#parts.then(async (parts) => {
      await act(parts)
      return parts
    })
  }

  async #beginRead(atLeast: AtLeast | undefined) {
    this.atLeast.push(atLeast)
    await this.beforeRead()
    return await this.#parts
  }
}

const connections = { max: 1000, maxPerAddress: 1000, isTrustedProxy: () => false }

export const theatreServices = () => new TestServices(theatre)

export function openApp(services: AppServices = theatreServices(), options: Partial<AppOptions> = {}) {
  return buildApp(services, {
    logger: false,
    logsWrites: false,
    probesInDetail: true,
    corsOrigins: [],
    publicUrl: '',
    connections,
    ...options,
  })
}

type Headers = Record<string, string>

/** A server, and what sends it requests. A body may be text or a value. */
export async function openServer(services: TestServices, options: Partial<AppOptions> = {}) {
  const app = await openApp(services, options)
  const send = (method: HTTPMethods, url: string, body?: string | object, headers: Headers = {}) => {
    const type: Headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const payload = body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }
    return app.inject({ method: method as 'GET', url, ...payload, headers: { authorization, ...type, ...headers } })
  }
  return {
    services,
    app,
    send,
    get: (url: string, headers?: Headers) => send('GET', url, undefined, headers),
    post: (url: string, body: string | object, headers?: Headers) => send('POST', url, body, headers),
    patch: (url: string, body: string | object, headers?: Headers) => send('PATCH', url, body, headers),
    /** Resolves to its port. */
    listen: async () => Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port),
  }
}

/** A server for the tests of a file; its services are new for each. */
export function testServer(definition: Definition = theatre) {
  const services = new TestServices(definition)
  const server = { services } as Awaited<ReturnType<typeof openServer>>
  beforeAll(async () => void Object.assign(server, await openServer(services)))
  beforeEach(() => server.services.reset())
  afterAll(() => server.app.close())
  return server
}

/** The header of an answer that has it. */
export function headerOf({ headers }: { readonly headers: Readonly<Record<string, unknown>> }, name: string): string {
  expect(headers).toHaveProperty(name)
  return String(headers[name])
}

/** The status and the exact shape of an error answer; `message` is a part of it. It leads to the page of errors where that is served. */
export function expectError(
  { statusCode, headers, body }: Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'body'>,
  status: number,
  code: string,
  message = '',
  { isExplained = true } = {},
): void {
  const expected = { code, message: expect.stringContaining(message), status }
  expect({ statusCode, body: JSON.parse(body) }).toEqual({ statusCode: status, body: expected })
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  })
  const help = expect.stringMatching(`(^|, )</docs/errors#${code}>; rel="help"$`)
  expect(headers.link).toEqual(isExplained ? help : undefined)
}
