import type { FastifyReply } from 'fastify'
import { expect, it } from 'vitest'
import type { NamedResource } from '../../../src/engine/definition/definition.ts'
import { type PageParameters, type RouteServices, replyWithPage } from '../../../src/engine/http/routes/resource.ts'
import { theatre } from '../theatre/theatre.ts'
import { tokenScope } from './test-services.ts'

/** A resource with two filters, of which the store has none. */
const resource: NamedResource = { ...theatre.home, filters: { status: {}, kind: {} } }

/** Which index is asked for, and the cursor of the next page. */
async function pageOf(query: PageParameters) {
  let asked: string | undefined
  let link = ''
  const readModel: Partial<RouteServices['readModel']> = {
    async page({ index }) {
      asked = index
      return { documents: '', count: 1, last: 1, reached: [] }
    },
  }
  const reply = {
    request: { headers: {}, holder: { owner: 'owner' } },
    raw: {},
    server: { basePath: '' },
    type: () => reply,
  } as unknown as FastifyReply
  const header = (name: string, value: string) => {
    if (name === 'link') link = value
    return reply
  }
  Object.assign(reply, { header })
  const services = { definition: theatre, log: tokenScope, readModel } as unknown as RouteServices
  await replyWithPage(services, resource, query, reply)
  return { asked, cursor: /cursor=([\w-]+)/.exec(link)?.[1] ?? '' }
}

it('a list has one filter at most', async () => {
  await expect(pageOf({ status: 'sold', kind: 'cat' })).rejects.toMatchObject({
    code: 'invalid_request',
    message: 'query: status and kind cannot be used together',
  })
})

it('a cursor belongs to one filter and its value, also where two have the same one', async () => {
  const [all, first, second] = [await pageOf({}), await pageOf({ status: 'A-b' }), await pageOf({ kind: 'A-b' })]
  expect([all.asked, first.asked, second.asked]).toEqual([undefined, 'status:A-b', 'kind:A-b'])
  expect((await pageOf({ kind: 'A-b', cursor: second.cursor })).asked).toBe('kind:A-b')
  for (const other of [all, first]) {
    await expect(pageOf({ kind: 'A-b', cursor: other.cursor })).rejects.toMatchObject({ code: 'invalid_cursor' })
  }
})
