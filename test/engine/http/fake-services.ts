import type { HTTPMethods, LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import type {
  CommandHandler,
  CommandOptions,
  Handled,
  MakeCommand,
} from '../../../src/engine/commands/command-handler.ts'
import type { Definition } from '../../../src/engine/definition/definition.ts'
import { documentsOf } from '../../../src/engine/definition/shown-documents.ts'
import { Rejected } from '../../../src/engine/door/rejected.ts'
import type { AnyEvent } from '../../../src/engine/door/stream.ts'
import type { FeedQuery, FeedStep } from '../../../src/engine/feed/event-feed.ts'
import { type AppOptions, type AppServices, buildApp } from '../../../src/engine/http/app.ts'
import type { FindKey } from '../../../src/engine/http/guards/auth.ts'
import { InFlightLimit, type Rate, RateLimit } from '../../../src/engine/http/guards/key-limits.ts'
import { RequestTurns } from '../../../src/engine/http/guards/request-turns.ts'
import type { RouteServices } from '../../../src/engine/http/routes/resource.ts'
import { Traffic } from '../../../src/engine/http/wire/traffic.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import type { StoredDocument } from '../../../src/engine/read-models/document.ts'
import type { AtLeast, Reached } from '../../../src/engine/read-models/read-model.ts'
import { type IdempotencyRecord, noRecords } from '../../../src/engine/read-models/stored-texts.ts'
import type { NewSeat, SeatEvent, SeatId } from '../theatre/seats.ts'
import { streamOf, theatre } from '../theatre/theatre.ts'

export const key = 'test-key'
export const authorization = `Bearer ${key}`
/** The key of somebody else. */
export const otherKey = 'other-key'
/** The log that the tokens of `FakeServices` belong to. */
export const tokenScope = { logId: 'f00dcafe-1', partitions: 6 }

type Events = RouteServices['events']
/** The service that is served, and its first events. */
export interface Served<Event extends AnyEvent, New> {
  readonly definition: Definition
  streamOf(event: Event): string
  added(id: number, thing: New): Event
}

const seats: Served<SeatEvent, NewSeat> = {
  definition: theatre,
  streamOf,
  added: (id, seat) => ({ type: 'SeatAdded', seat: { id: id as SeatId, ...seat } }),
}

/** `behind`: the stream that shows it. */
type Shown = StoredDocument

/** What a test says of them, and finds out. */
class Scene<Event> {
  readonly events: Event[] = []
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
  protected readonly streams = new Map<string, { readonly state: unknown; readonly version: number }>()
  protected readonly documents = new Map<string, Shown>()
  protected readonly decided = new Map<string, IdempotencyRecord>()
  protected lastId = 0

  constructor({ scopes }: Pick<Definition, 'scopes'>) {
    this.scopes = new Set(scopes)
  }
}

/**
 * The services of an API process over streams in memory, all in partition 0, decided and shown as in production; what
 * the command handler and the read model do beside that is for their own tests. Each part can be replaced by a test.
 */
export class FakeServices<Event extends AnyEvent = SeatEvent, New = NewSeat>
  extends Scene<Event>
  implements AppServices
{
  readonly #served: Served<Event, New>
  /** What an app asks for once, when it is built. */
  rate: Rate | undefined
  maxInFlightPerKey = 1000

  readonly readModel: RouteServices['readModel'] = {
    find: async ({ collection, id }, atLeast) => {
      await this.#beginRead(atLeast)
      const found = this.documents.get(`${collection}/${id}`)
      return { document: found && { json: found.json, stream: found.behind }, reached: this.#reached() }
    },
    page: async ({ collection, index, after, limit, ids }, atLeast) => {
      await this.#beginRead(atLeast)
      // As a store does, which relies on the order of the ids and finds each as often as it is asked for.
      const all = ids?.flatMap((id) => this.documents.get(`${collection}/${id}`) ?? []) ?? [...this.documents.values()]
      const behind = all
        .filter((one) => one.collection === collection && one.id > after)
        .filter(({ indexes }) => index === undefined || indexes.includes(index))
      if (ids === undefined) behind.sort((a, b) => a.id - b.id)
      const shown = behind.slice(0, limit)
      const last = behind.length > limit ? shown.at(-1)?.id : undefined
      const documents = shown.map(({ json }) => json).join(',')
      return { documents, count: shown.length, last, reached: this.#reached() }
    },
  }
  readonly commands: CommandHandler<unknown, unknown> = {
    handle: async (command, options) => {
      this.handled.push(options)
      await this.beforeCommand(options)
      const record = this.decided.get(options.idempotency?.key ?? '')
      if (record === undefined) return this.#decide(command, options)
      if (record.fingerprint !== options.idempotency?.fingerprint) {
        throw new ServiceError('idempotency_key_reused', 'Something else was sent under this key before.')
      }
      return { outcome: 'replayed', record, position: { partition: 0, offset: record.offset } }
    },
  }
  /** Tells the number of each event in `events`, as its offset and as all that its CloudEvent says. */
  readonly feed: { -readonly [Name in keyof Events]: Events[Name] } = {
    history: async (stream, { after = 0, limit }, _reader, atLeast) => {
      await this.#beginRead(atLeast)
      const offsets = this.events.flatMap((event, offset) => (this.#served.streamOf(event) === stream ? [offset] : []))
      const events = offsets.slice(after, after + limit).map(String)
      const last = after + limit < offsets.length ? after + limit : undefined
      return { events, last, isKnown: offsets.length > 0, reached: this.#reached() }
    },
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
    const { definition } = this.#served
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
      topic: `${definition.service.name}.${definition.home.collection}`,
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

  constructor(served: Served<Event, New>) {
    super(served.definition)
    this.#served = served
  }

  add(thing: New, id = this.lastId + 1): number {
    this.append(this.#served.added(id, thing))
    this.lastId = id
    return id
  }

  /** Returns the state after it. */
  append(event: Event): { readonly state: unknown; readonly version: number } {
    const { definition, streamOf } = this.#served
    const stream = streamOf(event)
    const before = this.#streamOf(stream)
    const version = before.version + 1
    const state = definition.stream.evolve(before.state, { event, version, time: this.time })
    this.events.push(event)
    this.streams.set(stream, { state, version })
    for (const { json, ...rest } of documentsOf(definition, state)) {
      if (json === null) this.documents.delete(`${rest.collection}/${rest.id}`)
      else this.store({ ...rest, json, behind: stream })
    }
    return { state, version }
  }

  store(document: Shown): void {
    this.documents.set(`${document.collection}/${document.id}`, document)
  }

  /** For the next test. */
  reset(): void {
    Object.assign(this, new Scene(this.#served.definition))
  }

  #decide(
    command: MakeCommand<unknown>,
    { stream: about, drawsId, idempotency, precondition }: CommandOptions,
  ): Handled<unknown> {
    const document = typeof about === 'object' ? this.documents.get(`${about.collection}/${about.id}`) : undefined
    const reached = this.#reached()
    const own = typeof about === 'object' && this.streams.has(String(about.id)) ? String(about.id) : undefined
    const isHome = typeof about === 'object' && about.collection === this.#served.definition.home.collection
    const stream = typeof about === 'object' ? (document?.behind ?? (isHome ? own : undefined)) : about
    if (stream === undefined) return { outcome: 'not_found', reached }
    const id = stream === 'new' || drawsId ? ++this.lastId : 0
    const before = this.#streamOf(stream === 'new' ? String(id) : stream)
    const event = this.#served.definition.stream.decide(command({ id, time: this.time }), before.state)
    if (event === 'unchanged') return { outcome: 'unchanged', document: document?.json, reached }
    if (typeof about === 'object' && document === undefined) return { outcome: 'not_found', reached }
    precondition?.(document?.json ?? '')
    if (event instanceof Rejected) throw ServiceError.own(event.code, event.message)
    const after = this.append(event as Event)
    const offset = this.events.length - 1
    if (idempotency !== undefined) {
      const effect = { stream, id, version: after.version, time: this.time, parked: false }
      this.decided.set(idempotency.key, { partition: 0, ...idempotency, offset, ...effect })
    }
    return { outcome: 'applied', id, ...after, position: { partition: 0, offset }, isReadable: this.isReadable }
  }

  #streamOf(stream: string): { readonly state: unknown; readonly version: number } {
    return this.streams.get(stream) ?? { state: this.#served.definition.stream.initial, version: 0 }
  }

  async #beginRead(atLeast: AtLeast | undefined): Promise<void> {
    this.atLeast.push(atLeast)
    await this.beforeRead()
  }

  #reached(): Reached {
    const next = this.events.length
    return [next === 0 ? new Map() : new Map([[0, { next, last: null, counts: noRecords }]])]
  }
}

const connections = { max: 1000, maxPerAddress: 1000, isTrustedProxy: () => false }

export const fakeTheatre = () => new FakeServices(seats)

export function openApp(services: AppServices = fakeTheatre(), options: Partial<AppOptions> = {}) {
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
export async function openServer<Event extends AnyEvent, New>(
  services: FakeServices<Event, New>,
  options: Partial<AppOptions> = {},
) {
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
export function testServer<Event extends AnyEvent = SeatEvent, New = NewSeat>(served?: Served<Event, New>) {
  const server = {} as Awaited<ReturnType<typeof openServer<Event, New>>>
  const services = new FakeServices((served ?? seats) as Served<Event, New>)
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
