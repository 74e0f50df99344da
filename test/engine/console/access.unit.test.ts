import { describe, expect, it, vi } from 'vitest'
import { issueKey, revokeKey } from '../../../src/engine/api-keys/api-keys.ts'
import { type Refused, useTheatre } from './console-theatre.ts'

const { ask, issue, keyFile } = useTheatre()

describe('whoever asks for what the console shows', () => {
  const paths = [
    'status',
    'figures',
    'generations',
    'parked',
    'runbook',
    'events/0/0',
    'events?before=x',
    'streams/1',
    'tail',
  ]

  it.each(paths)('needs an API key with scope read: %s', async (path) => {
    expect((await ask(`console/api/${path}`, { key: 'none' })).status).toBe(401)
    const { key } = issue(path, ['write'])
    expect(await ask<Refused>(`console/api/${path}`, { key })).toMatchObject({
      status: 403,
      body: { code: 'insufficient_scope' },
    })
  })

  it('has scope operate by name alone', async () => {
    const { headers } = await ask('console/api/status', { key: issue('of every scope').key })
    expect(headers.get('may-operate')).toBe('false')
  })

  it.each(['jobs/rebuild', 'jobs/verify', 'parked/0/0/discard'])('needs scope operate to act: %s', async (path) => {
    for (const { key } of [issue('reader', ['read']), issue('of every scope')]) {
      const asked = { method: 'POST', body: { reason: 'none' }, key }
      expect(await ask<Refused>(`console/api/${path}`, asked)).toMatchObject({
        status: 403,
        body: { message: 'This API key lacks the scope operate.' },
      })
    }
  })

  it('is refused within two seconds of a revocation', async () => {
    const { id, key } = issue('revoked', ['read'])
    expect((await ask('console/api/status', { key })).status).toBe(200)
    revokeKey(keyFile, id)
    await vi.waitFor(async () => expect((await ask('console/api/status', { key })).status).toBe(401), { timeout: 2000 })
  })

  it('is refused within two seconds of the end of its key', async () => {
    const expiresAt = new Date(Date.now() + 500)
    const { key } = issueKey(keyFile, { service: 'theatre', name: 'short', expiresAt }, new Date())
    expect((await ask('console/api/status', { key })).status).toBe(200)
    await vi.waitFor(async () => expect((await ask('console/api/status', { key })).status).toBe(401), { timeout: 2500 })
  })

  it.each([
    'status?x=1',
    'figures?x=1',
    'figures?after=then',
    'events/0/-1',
    'events/0/one',
    'events',
    'events?before=x&stream=one',
    'events?before=x&x=1',
    'streams/one',
    'tail?x=1',
    'stream-of?path=/v1/seats',
  ])('is told what is wrong with the request: %s', async (path) => {
    expect(await ask<Refused>(`console/api/${path}`)).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  })
})
