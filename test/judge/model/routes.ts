import type { FastifyInstance } from 'fastify'
import { addCommandRoutes } from '../../../src/engine/http/routes/command-routes.ts'
import { addEventRoutes } from '../../../src/engine/http/routes/events.ts'
import type { RouteServices } from '../../../src/engine/http/routes/resource.ts'
import { addResourceRoutes } from '../../../src/engine/http/routes/resource-routes.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'

type Handler = (request: object, reply: Reply) => Promise<unknown>

/** What `src/engine/http` answers to valid requests. There is no server, since that would take the time of real sockets. */
export class Routes {
  readonly #handlers = new Map<string, Handler>()
  readonly #services: RouteServices
  readonly #foundBug: (error: unknown) => void

  /** `foundBug` is told each error without a code. */
  constructor(services: RouteServices, foundBug: (error: unknown) => void) {
    this.#services = services
    this.#foundBug = foundBug
    const add = (method: string) => (path: string, _options: object, handler: Handler) => {
      this.#handlers.set(`${method} /v1${path.replace(/:\w+/, ':id')}`, handler)
    }
    const route = ({ method, url, handler }: { method: string; url: string; handler: Handler }) =>
      add(method)(url, {}, handler)
    const instance = { basePath: '', get: add('GET'), route } as unknown as FastifyInstance
    addResourceRoutes(instance, services)
    addCommandRoutes(instance, services)
    addEventRoutes(instance, services)
  }

  async answer({ pathname, searchParams }: URL, sent: RequestInit, hasLeft: () => boolean): Promise<Response> {
    const [id] = /\d+(?=$|\/events$)/.exec(pathname) ?? []
    const path = id === undefined ? pathname : pathname.replace(`/${id}`, '/:id')
    const handler = this.#handlers.get(`${sent.method} ${path}`)
    if (handler === undefined) throw new Error(`nothing is at ${sent.method} ${pathname}`)
    const { limit, ...query } = Object.fromEntries(searchParams)
    const request = {
      headers: sent.headers,
      holder: { owner: 'owner', scopes: new Set(['read', 'write', 'orders']) },
      params: id === undefined ? {} : { id: Number(id) },
      query: { ...query, limit: Number(limit) },
      body: sent.body && JSON.parse(String(sent.body)),
    }
    const reply = new Reply(request, hasLeft)
    try {
      const text = await handler(request, reply)
      return reply.sent(typeof text === 'string' ? text : null)
    } catch (error) {
      const facts = error instanceof ServiceError ? this.#services.definition.errors.get(error.code) : undefined
      if (facts === undefined) this.#foundBug(error)
      const { code, message } = error instanceof ServiceError ? error : { code: 'internal_error', message: '' }
      const { status } = facts ?? { status: 500 }
      return reply.code(status).sent(JSON.stringify({ code, message, status }))
    }
  }
}

/** As much of a reply of Fastify as the routes use. */
class Reply {
  readonly request: object
  readonly raw: { readonly destroyed: boolean }
  readonly server = { basePath: '' }
  readonly #headers = new Headers()
  #status = 200

  constructor(request: object, hasLeft: () => boolean) {
    this.request = request
    this.raw = {
      get destroyed() {
        return hasLeft()
      },
    }
  }

  header(name: string, value: string): this {
    this.#headers.set(name, value)
    return this
  }

  headers(headers: Readonly<Record<string, string>>): this {
    for (const [name, value] of Object.entries(headers)) this.header(name, value)
    return this
  }

  code(status: number): this {
    this.#status = status
    return this
  }

  type(name: string): this {
    return this.header('content-type', name)
  }

  send(): this {
    return this
  }

  sent(text: string | null): Response {
    return new Response(text, { status: this.#status, headers: this.#headers })
  }
}
