import type { FastifyInstance } from 'fastify'

/** `read` gives it. */
export type Served = [url: string, type: string, headers: object, read: () => string | Buffer | Promise<string>]

/** Serves what is made or read when it is first asked for, and kept in memory: later requests cost no file descriptor. */
export function serveFile(app: FastifyInstance, ...[url, type, headers, read]: Served): void {
  let content: string | Buffer | undefined
  app.get(url, { schema: { hide: true } }, async (_request, reply) => {
    reply.type(type).headers(headers)
    content ??= await read()
    return content
  })
}
