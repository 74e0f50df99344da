import type { HTTPMethods } from 'fastify'
import { expect } from 'vitest'
import { expectError, type testServer } from './test-services.ts'

type Server = Pick<ReturnType<typeof testServer>, 'app' | 'send'>

/** One rule for all routes: where an id is empty, or a slash is at the end, there is nothing, whatever is asked of it. */
export async function expectEmptySegmentsUnknown({ app, send }: Server): Promise<void> {
  const { paths } = (await app.inject('/openapi.json')).json<{ paths: object }>()
  const urls = Object.keys(paths).flatMap((path) => withEmptySegments(`/v1${path}`))
  expect(urls.length).toBeGreaterThan(Object.keys(paths).length)
  for (const method of app.supportedMethods) {
    for (const authorization of [{}, { authorization: '' }]) {
      // A body that is read would be refused.
      const ask = (url: string) => send(method as HTTPMethods, url, '{"not":"read"', authorization)
      const nothing = headersOf(await ask('/v1/nothing'))
      for (const url of urls) {
        const answer = await ask(url)
        if (method === 'HEAD') expect(answer.statusCode).toBe(404)
        else expectError(answer, 404, 'route_not_found', `There is nothing at ${url.split('?')[0]}.`)
        expect(headersOf(answer)).toEqual(nothing)
      }
    }
  }
}

const idsIn = /\{\w+\}/g

/** The path with a slash behind it; with each of its ids empty, and with all. */
function withEmptySegments(path: string): string[] {
  const ids = path.match(idsIn) ?? []
  const each = ids.map((id) => path.replace(id, '').replaceAll(idsIn, '1'))
  const all = path.replaceAll(idsIn, '')
  return [`${path.replaceAll(idsIn, '1')}/`, ...each, ...(ids.length === 0 ? [] : [all, `${all}?limit=1`])]
}

function headersOf({ headers: { date, 'x-request-id': id, 'content-length': length, ...rest } }: Answer) {
  return rest
}
type Answer = { readonly headers: Readonly<Record<string, unknown>> }
