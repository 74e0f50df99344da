import { describe, expect, it } from 'vitest'
import { UnknownOutcome } from '../../../../src/engine/commands/command-handler.ts'
import { tagOf } from '../../../../src/engine/http/values/conditions.ts'
import { expectError, headerOf } from '../test-services.ts'
import type { Answer, Contracted, SentCommand } from './fixture.ts'

const other = { 'if-match': '"other"' }

export function commandsContract({
  server,
  commands,
  creating,
  changing,
  removing,
  get,
  send,
  given,
  eventsOf,
}: Contracted): void {
  const { services } = server

  /** The document, as it can be read from then on, its tag and a token. */
  async function expectDocument(answer: Answer, status: number, url: string): Promise<void> {
    expect([answer.statusCode, answer.body]).toEqual([status, expect.stringMatching(/^\{/)])
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      etag: `"${tagOf(answer.body)}"`,
      'cache-control': 'private, no-cache, no-transform',
      'consistency-token': expect.any(String),
    })
    const read = await get(url)
    expect([read.body, read.headers.etag]).toEqual([answer.body, answer.headers.etag])
  }

  describe.each(creating)('$name', (command) => {
    const { route, resource, needs } = command

    it('answers 201 with the document, its path, its tag and a token', async () => {
      await given(needs)
      const answer = await send(command)
      await expectDocument(answer, 201, headerOf(answer, 'location'))
      expect(answer.headers.location).toBe(resource.one)
      const isNew = route.on === 'new'
      expect([answer.headers['read-model-applied'], answer.headers.vary]).toEqual(
        isNew ? ['?1', 'Prefer'] : [undefined, undefined],
      )
    })

    it('waits a second for a new stream, and says when it cannot be read by then', async () => {
      await given(needs)
      services.isReadable = false
      const answer = await send(command)
      if (route.on !== 'new') return expectError(answer, 504, 'append_outcome_unknown')
      expect(services.handled.at(-1)).toMatchObject({ stream: 'new', wait: { timeoutMs: 1000 } })
      expect([answer.statusCode, answer.headers['read-model-applied']]).toEqual([201, '?0'])
    })
  })

  it.each(commands)(
    '$name whose outcome is unknown names what it may have created in a known stream',
    async (command) => {
      await given(command.needs)
      services.beforeCommand = () => Promise.reject(new UnknownOutcome({ id: 12 }, 'The reason.', undefined))
      const answer = await send(command)
      expectError(answer, 504, 'append_outcome_unknown', 'The reason.')
      const { route, resource } = command
      const isNamed = route.creates !== undefined && route.on !== 'new'
      expect(answer.headers.location).toBe(isNamed ? `${resource.list}/12` : undefined)
    },
  )

  it.each(commands)('$name knows no query parameters', async (command) => {
    const answer = await send({ ...command, url: `${command.url}?dry=1` })
    expectError(answer, 400, 'invalid_request', 'query: "dry" is not allowed here')
    expect(services.handled).toEqual([])
  })

  it.each(commands.filter(({ body }) => body !== undefined))('$name refuses what is no body of it', async (command) => {
    const { url, resource, method } = command
    for (const [body, code] of [
      ['{', 'invalid_json'],
      ['', 'invalid_json'],
      [[command.body], 'invalid_request'],
      ['null', 'invalid_request'],
      [{}, 'invalid_request'],
      [{ ...command.body, colour: 'red' }, 'invalid_request'],
      ['{"toString":1}', 'invalid_request'],
    ] as const)
      expectError(await server.send(method, url, body), 400, code)
    expectError(await send(command, { 'content-type': 'text/plain' }), 415, 'unsupported_media_type')
    const patch = await send(command, { 'content-type': 'application/merge-patch+json; charset=utf-8' })
    if (method === 'PATCH') expectError(patch, 404, resource.notFound)
    else expectError(patch, 415, 'unsupported_media_type')
    expect(services.events).toEqual([])
  })

  const aboutOne = [...changing, ...removing]
  describe.each(aboutOne)('$name', (command) => {
    const { resource, needs } = command
    const at = (id: string): SentCommand => ({ ...command, url: `${resource.list}/${id}` })

    it.each(['99', '0', '-1', '9223372036854775807'])(
      'is 404 for %s, which never was, whatever If-Match says',
      async (id) => {
        await given(needs)
        const answer = await send(at(id), other)
        expectError(answer, 404, resource.notFound, `There is no ${resource.noun} ${id}.`)
      },
    )

    it('is 400 for what is no id', async () => expectError(await send(at('x')), 400, 'invalid_request'))

    it('is 200 or 204 with If-Match of the present tag, and 412 otherwise, which changes nothing', async () => {
      await given(needs)
      const etag = headerOf(await get(resource.one), 'etag')
      const before = services.events.length
      const isOther = 'header: If-Match does not have the entity tag of the present state'
      const stale = await send(command, other)
      expectError(stale, 412, 'precondition_failed', isOther)
      expect(stale.json().message).toBe(isOther)
      const isWeak = `${isOther}; weak tags (W/"…") never match: send the tag without W/`
      expectError(await send(command, { 'if-match': `W/${etag}` }), 412, 'precondition_failed', isWeak)
      for (const named of [etag, `W/${etag}`, '*']) {
        const isThere = 'header: If-None-Match names what is there'
        expectError(await send(command, { 'if-none-match': named }), 412, 'precondition_failed', isThere)
      }
      expect(services.events).toHaveLength(before)
      expect((await send(command, { 'if-match': `"x", ${etag}`, 'if-none-match': '"x"' })).statusCode).toBeLessThan(300)
      expect(services.events).toHaveLength(before + 1)
    })

    it('ignores an Idempotency-Key, a malformed one too', async () => {
      await given(needs)
      expect((await send(command, { 'idempotency-key': '"' })).statusCode).toBeLessThan(300)
      expect(services.handled.at(-1)?.idempotency).toBeUndefined()
    })
  })

  describe.each(changing)('$name', (command) => {
    const { resource, needs } = command

    it('answers 200 with the document as it is now, and reads no more than the command does', async () => {
      await given(needs)
      const before = await get(resource.one)
      services.atLeast.splice(0)
      const answer = await send(command)
      expect(services.atLeast).toEqual([])
      expect(answer.body).not.toBe(before.body)
      await expectDocument(answer, 200, resource.one)
    })

    it('leaves as it is what is so already, whatever If-Match says, and shows it to who may read', async () => {
      await given(needs)
      const first = await send(command)
      const { length } = services.events
      const again = await send(command, other)
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([200, first.body, first.headers.etag])
      services.scopes = new Set([command.scope])
      const refused = await send(command)
      expectError(refused, 403, 'insufficient_scope', 'lacks the scope read')
      expect(refused.headers['www-authenticate']).toContain('scope="read"')
      expect(refused.headers).not.toHaveProperty('etag')
      expect(services.events).toHaveLength(length)
    })
  })

  describe.each(removing)('$name', (command) => {
    const { resource, needs, scope } = command

    it('is answered with nothing but tokens, and again without another event, whatever If-Match says', async () => {
      await given(needs)
      const before = services.events.length
      for (const headers of [{}, other]) {
        const answer = await send(command, headers)
        expect([answer.statusCode, answer.body, answer.headers['consistency-token']]).toEqual([
          204,
          '',
          expect.any(String),
        ])
        expect(answer.headers).not.toHaveProperty('content-type')
      }
      expect(services.events).toHaveLength(before + 1)
      expectError(await get(resource.one), 404, resource.notFound)
      expect((await get(resource.list)).body).toBe('[]')
      if (resource.history) expect((await get(resource.history)).json()).toHaveLength(eventsOf(resource).length)
    })

    it('needs no more than its scope, and works whatever Content-Type says of no body', async () => {
      await given(needs)
      services.scopes = new Set([scope])
      for (const headers of [{ 'content-type': 'application/json' }, {}] as const)
        expect((await server.send('DELETE', command.url, undefined, headers)).statusCode).toBe(204)
    })
  })
}
