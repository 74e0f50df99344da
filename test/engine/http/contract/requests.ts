import { describe, expect, it } from 'vitest'
import { tagOf } from '../../../../src/engine/http/values/conditions.ts'
import { readTokens, writeToken } from '../../../../src/engine/http/values/tokens.ts'
import { expectEmptySegmentsUnknown } from '../empty-segments.ts'
import { expectError, headerOf, tokenScope } from '../test-services.ts'
import type { Answer, Contracted, Headers } from './fixture.ts'

const positions = [3, 0].map((partition) => ({ partition, offset: partition * 10 }))
const session = { 'consistency-token': positions.map((each) => writeToken(tokenScope, [each])).join() }
const [sent] = positions
const toldBy = (answer: Answer) => readTokens(tokenScope, headerOf(answer, 'consistency-token'))

/** What is true of every request, whatever it asks for. */
export function requestContract({ definition, server, operations, get, send, givenAll, ...more }: Contracted): void {
  const { services } = server
  const { resources, commands, given } = more
  const reads = operations.filter(({ method }) => method === 'GET')

  it.each(operations)('$name needs a key, before anything else is looked at', async (operation) => {
    const body = operation.body && { colour: 'red' }
    const bad = { 'content-type': 'text/plain', 'if-match': 'x', 'consistency-token': 'x' }
    const answer = await send({ ...operation, url: `${operation.url}?x=1`, body }, { ...bad, authorization: '' })
    expectError(answer, 401, 'unauthorized', 'A valid API key is needed')
    expect(answer.headers['www-authenticate']).toBe(`Bearer realm="${definition.service.name}"`)
  })

  it.each(definition.scopes)('a key for %s is for nothing else', async (scope) => {
    await givenAll()
    services.scopes = new Set([scope])
    for (const operation of operations.filter((each) => each.scope !== scope)) {
      const answer = await send(operation)
      expectError(answer, 403, 'insufficient_scope')
      const { name } = definition.service
      const challenge = `Bearer realm="${name}", error="insufficient_scope", scope="${operation.scope}"`
      expect(answer.headers['www-authenticate']).toBe(challenge)
    }
    for (const operation of operations.filter((each) => each.scope === scope))
      expect([operation.name, (await send(operation)).statusCode]).not.toEqual([operation.name, 403])
  })

  it.each(operations)('$name refuses a malformed condition, and a malformed token', async (operation) => {
    const conditions = ['if-match', 'if-none-match'].map((name) => send(operation, { [name]: 'x' }))
    for (const answer of await Promise.all(conditions))
      expectError(answer, 400, 'invalid_request', 'must be * or a list of entity tags')
    expectError(await send(operation, { 'consistency-token': 'x' }), 400, 'invalid_consistency_token')
    expect([services.atLeast, services.handled]).toEqual([[], []])
  })

  it.each(reads)('$name honours a token, and gives it back with what was told', async ({ url }) => {
    await givenAll()
    for (const more of [{}, { prefer: 'wait=7', 'if-none-match': '*' }] as Headers[]) {
      const answer = await get(url, { ...session, ...more })
      expect(answer.headers.vary).toBe('Consistency-Token, Prefer')
      expect(answer.headers['preference-applied']).toBe(more.prefer)
      expect(toldBy(answer)).toEqual([sent, { partition: 0, offset: services.events.length - 1 }])
    }
    expect(services.atLeast).toMatchObject([1000, 7000].map((timeoutMs) => ({ positions, wait: { timeoutMs } })))
  })

  it.each(commands)('$name honours a token, and gives it back with what it did', async (command) => {
    await given(command.needs)
    const told = toldBy(await send(command, { ...session, 'idempotency-key': 'k' }))
    expect(told).toEqual([sent, { partition: 0, offset: services.events.length - 1 }])
    expect(services.handled.at(-1)?.atLeast).toMatchObject({ positions })
    if (command.route.creates === undefined) expect(toldBy(await send(command, session))).toEqual(told) // nothing to do
  })

  it.each(reads)('$name without a token waits for nothing, and is answered with none', async ({ url }) => {
    await givenAll()
    const { headers } = await get(url, { prefer: 'wait=5' })
    expect(services.atLeast).toEqual([undefined])
    for (const name of ['consistency-token', 'preference-applied']) expect(headers).not.toHaveProperty(name)
  })

  const aboutOne = operations.filter(({ url }) => resources.some(({ one }) => one === url))
  it.each(aboutOne)('$name of none gives the token back', async (operation) => {
    await givenAll()
    const last = services.events.length - 1
    // What no id can be is not looked for: an answer that read nothing tells of nothing more.
    for (const [id, offset] of Object.entries({ 99: last, 0: 0 })) {
      const answer = await send({ ...operation, url: operation.url.replace(/\d+$/, id) }, session)
      expect([answer.statusCode, toldBy(answer)]).toEqual([404, [sent, { partition: 0, offset }]])
    }
  })

  it.each(reads)('HEAD of $name has the head of GET', async ({ url }) => {
    await givenAll()
    const headers = { 'x-request-id': 'same' }
    const [whole, head] = [await get(url, headers), await server.send('HEAD', url, undefined, headers)]
    expect([head.statusCode, head.body]).toEqual([whole.statusCode, ''])
    expect({ ...head.headers, date: '' }).toEqual({ ...whole.headers, date: '' })
  })

  describe.each(resources)('GET $one', ({ one, list, notFound }) => {
    it('is 304 for a client that has it as it is', async () => {
      await givenAll()
      const whole = await get(one)
      const etag = headerOf(whole, 'etag')
      expect(whole.headers).toMatchObject({
        etag: `"${tagOf(whole.body)}"`,
        'cache-control': 'private, no-cache, no-transform',
      })
      const { 'content-type': _type, 'content-length': _length, ...headers } = whole.headers
      // As a proxy that compresses it hands it on
      const same = await get(one, { 'if-none-match': `W/${etag}` })
      expect([same.statusCode, same.body, same.headers]).toEqual([304, '', { ...headers, date: same.headers.date }])
      const {
        statusCode,
        headers: { etag: now },
      } = await get(one, { 'if-none-match': '"other"' })
      expect([statusCode, now]).toEqual([200, etag])
      expectError(await get(`${list}/99`, { 'if-none-match': '*' }), 404, notFound)
    })

    it('is 412 for another tag than its own, also by HEAD', async () => {
      await givenAll()
      const etag = headerOf(await get(one), 'etag')
      for (const holds of [etag, '*', `"other", ${etag}`])
        expect((await get(one, { 'if-match': holds })).statusCode).toBe(200)
      for (const also of [{}, { 'if-none-match': etag }]) {
        const message = 'header: If-Match does not have the entity tag of the present state'
        expectError(await get(one, { 'if-match': '"other"', ...also }), 412, 'precondition_failed', message)
      }
      expect((await server.send('HEAD', one, undefined, { 'if-match': '"other"' })).statusCode).toBe(412)
      expect((await get(one, { 'if-match': etag, 'if-none-match': etag })).statusCode).toBe(304)
      expectError(await get(`${list}/99`, { 'if-match': '"other"' }), 404, notFound)
    })
  })

  const lists = resources.flatMap(({ list, history = [] }) => [list, history].flat())
  it.each(lists)('GET %s has no tag', async (url) => {
    await givenAll()
    const none = 'header: If-Match cannot hold, since there is no entity tag'
    expectError(await get(url, { 'if-match': '"other"' }), 412, 'precondition_failed', none)
    expect((await get(url, { 'if-match': '*', 'if-none-match': '"other"' })).statusCode).toBe(200)
  })

  it.each(more.creating)('$name is 412 for a condition that cannot hold, and stores nothing', async (command) => {
    await given(command.needs)
    const { length } = services.events
    for (const header of [{ 'if-match': '"other"' }, { 'if-none-match': '*' }])
      expectError(await send(command, { ...header } as Record<string, string>), 412, 'precondition_failed')
    expect(services.events).toHaveLength(length)
    expect((await send(command, { 'if-match': '*' })).statusCode).toBe(201)
  })

  it('a path with an empty id, or with a slash behind it, is an unknown one', () => expectEmptySegmentsUnknown(server))

  it('a method that a path does not support is 405 with Allow, with or without a key, whatever the body', async () => {
    const paths = Map.groupBy(operations, ({ url }) => url.replace(/\?.*/, ''))
    for (const [url, supported] of paths) {
      const names = new Set(supported.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))
      const allow = ['GET', 'HEAD', 'DELETE', 'PATCH', 'POST', 'PUT'].filter((name) => names.has(name)).join(', ')
      for (const method of (['PUT', 'TRACE', 'PROPFIND', 'OPTIONS', 'DELETE', 'PATCH', 'POST'] as const).filter(
        (name) => !names.has(name),
      ))
        for (const [body, authorization] of [
          ['{', ''],
          ['x'.repeat(20_000), 'Bearer wrong'],
        ] as const) {
          const answer = await server.send(method, url, body, { authorization })
          expectError(answer, 405, 'method_not_allowed', `only ${allow}.`)
          expect(answer.headers.allow).toBe(allow)
        }
    }
  })
}
