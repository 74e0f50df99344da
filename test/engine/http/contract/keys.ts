import { describe, expect, it } from 'vitest'
import { expectError } from '../test-services.ts'
import type { Contracted, SentCommand } from './fixture.ts'

const key = { 'idempotency-key': '"k"' }

export function keyContract({ server, commands, creating, send, given, givenAll }: Contracted): void {
  const { services } = server

  describe.each(creating)('$name with an Idempotency-Key', (command) => {
    it('gets the first answer again, whatever became of it since', async () => {
      await given(command.needs)
      services.time = '2026-11-20T10:30:00+01:00'
      const first = await send(command, key)
      expect([first.statusCode, first.headers['idempotency-replayed']]).toEqual([201, undefined])
      services.time = '2026-11-21T09:30:00.000Z'
      for (const later of commands.filter((each) => each !== command)) await send(later)
      const { length } = services.events
      for (const again of [await send(command, key), await send(command, { 'idempotency-key': 'k' })]) {
        expect([again.statusCode, again.body]).toEqual([201, first.body])
        const { location, etag, 'consistency-token': token, 'cache-control': control } = first.headers
        const same = { location, etag, 'consistency-token': token, 'cache-control': control }
        expect(again.headers).toMatchObject({ ...same, 'idempotency-replayed': 'true' })
      }
      expect(services.events).toHaveLength(length)
    })

    const changed = changedBody(command)
    it('is 422 for another body', async () => {
      await given(command.needs)
      await send(command, key)
      if (changed === undefined) return expect(command.route.key?.content(command.body)).toHaveLength(1)
      expectError(await send({ ...command, body: changed }, key), 422, 'idempotency_key_reused')
    })

    it('is answered once its key is decided, whatever it prefers, and says nothing of what can be read', async () => {
      await given(command.needs)
      const { statusCode, headers } = await send(command, { ...key, prefer: 'wait=0' })
      expect(statusCode).toBe(201)
      for (const name of ['preference-applied', 'read-model-applied']) expect(headers).not.toHaveProperty(name)
    })

    it('is refused for its body before its key is looked at, and for a key that is none', async () => {
      const malformed = { 'idempotency-key': '"' }
      expectError(await send({ ...command, body: {} }, malformed), 400, 'invalid_request')
      expectError(await send(command, malformed), 400, 'invalid_idempotency_key', 'Idempotency-Key')
      expect(services.handled).toEqual([])
    })
  })

  it('a key of one command is another one for another command', async () => {
    await givenAll()
    services.reset()
    for (const command of creating) {
      const answer = await send(command, key)
      expect([answer.statusCode, answer.headers['idempotency-replayed']]).toEqual([201, undefined])
    }
  })
}

/** Another body about the same stream; undefined where its content is nothing else. */
function changedBody({ body = {}, route: { on, key } }: SentCommand): Record<string, unknown> | undefined {
  const stream = typeof on === 'object' && 'stream' in on ? on.stream(body) : undefined
  const texts = Object.entries(body).map(([name, value]) => {
    if (typeof value === 'string') return [name, `${value}x`]
    return [name, value === stream ? value : Number(value) + 1]
  })
  const changed = Object.fromEntries(texts)
  return String(key?.content(changed)) === String(key?.content(body)) ? undefined : changed
}
