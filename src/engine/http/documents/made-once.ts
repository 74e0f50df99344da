import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkIfMatch, isNamed, readConditions, tagOf } from '../values/conditions.ts'

type Content = string | Buffer

/** What nobody needs a key for, and the document leaves out. */
export const hidden = { schema: { hide: true } }

/**
 * Answers with what `make` gives when it is first asked for. That is kept in memory with its entity tag: later requests
 * cost neither a file descriptor nor a hash. Caches ask for each use whether it is still the same, so that a page never
 * runs with the files of another release.
 */
export function madeOnce(type: string, make: () => Content | Promise<Content>, headers: Record<string, string> = {}) {
  let made: { readonly content: Content; readonly tag: string } | undefined
  return async (request: FastifyRequest, reply: FastifyReply): Promise<Content | FastifyReply> => {
    const conditions = readConditions(request.headers)
    made ??= tagged(await make())
    const { content, tag } = made
    checkIfMatch(conditions, tag)
    reply.headers({ ...headers, etag: `"${tag}"`, 'cache-control': 'no-cache' })
    if (isNamed(conditions, tag)) return reply.code(304).send()
    reply.type(type)
    return content
  }
}

function tagged(content: Content) {
  return { content, tag: tagOf(content) }
}
