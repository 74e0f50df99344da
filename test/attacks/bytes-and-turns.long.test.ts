import { expect, it, vi } from 'vitest'
import { type Environment, petstoreJson, startService } from '../e2e/service.ts'
import { eventually } from '../lib/eventually.ts'
import { metric } from '../lib/http-client.ts'
import { describeOnLinux } from '../lib/on-linux.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { whenDone } from '../lib/when-done.ts'
import { type Attack, Attackers } from './attackers.ts'
import { addPets, bytesAndTurns, heapOption, waitingBytesMax } from './bytes-and-turns.ts'
import { KeepAliveClient } from './keep-alive-client.ts'
import { descriptorsOf, seenDuring, seenFor } from './well-behaved.ts'

const attacker = 'the-key-of-the-attacker'
const client = 'the-key-of-another-client'
const proxy = '127.0.0.9'

const refusals = (code: string) => `petstore_http_refusals_total{code="${code}"}`
const waiting = 'petstore_http_waiting_bytes'
const inFlight = 'petstore_http_requests_in_flight'
/** For any reason. */
const closedForRoom = 'petstore_http_connections_closed_total'

/** A service with a small heap, and what another client reads of it. */
async function startAttacked(more: Environment = {}, pets?: number) {
  const API_KEYS = `${attacker},${client}`
  const environment = { DATA_DIR: temporaryFolder(), API_KEYS, NODE_OPTIONS: heapOption, ...more }
  const service = await startService(environment)
  const asked = { paths: ['/livez', `/v1/pets/${await addPets(service.url, client, pets)}`], key: client }
  return { environment, service, asked }
}

describeOnLinux('a service with a heap of 512 MB', () => {
  it('outlives what clients have it keep, and answers others', async () => {
    const { service, asked } = await startAttacked()
    const { url } = service
    for (const [name, { refusedAs, ...attack }] of Object.entries(bytesAndTurns(attacker))) {
      const refusedBefore = refusedAs === undefined ? 0 : await metric(url, refusals(refusedAs))
      const { lives, statuses, waitingBytes } = await seenDuring(attack, service, asked)
      expect([name, lives, statuses]).toEqual([name, true, [200]])
      expect(waitingBytes, name).toBeLessThanOrEqual(waitingBytesMax)
      if (refusedAs !== undefined) expect(await metric(url, refusals(refusedAs)), name).toBeGreaterThan(refusedBefore)
      // What it had the service keep is gone with its connections.
      await eventually(async () => expect(await metric(url, waiting), name).toBe(0))
      await eventually(async () => expect(await metric(url, inFlight), name).toBe(1))
    }
    // A client's doing is no error of the service.
    expect(service.output()).not.toMatch(/"level":[56]0/)
    expect(await service.end('SIGTERM'), service.output()).toBe(0)
  })
})

/** So many connections are enough to fill a service that takes no more. */
const few = 300

describeOnLinux('idle connections make room for others', () => {
  it('though they are 2,000 of one key', async () => {
    const filled = await startFilled({ MAX_CONNECTIONS: '2000' })
    const { key } = await filled.issue('reader')
    filled.attack(idle(2000, key, ['127.0.0.2', '127.0.0.3', '127.0.0.4']))
    await filled.untilOpen(2000)
    await filled.expectServed()
    expect(await metric(filled.url, closedForRoom)).toBeGreaterThan(0)
  })

  it('once their key is revoked as those of a stranger, before those of a valid one', async () => {
    const filled = await startFilled({ MAX_CONNECTIONS: `${few}` })
    const [one, other, valid] = await Promise.all(['one', 'other', 'valid'].map(filled.issue))
    // Each has fewer than the valid one, but together, as those of one stranger, they have more.
    const toBeRevoked = [one, other].map(({ key }) => filled.attack(idle(90, key, ['127.0.0.2'])))
    const toStay = filled.attack(idle(few - 180, valid.key, ['127.0.0.3']))
    await filled.untilOpen(few)
    for (const { id, key } of [one, other]) await filled.revoke(id, key)

    const [revokedBefore, stayBefore] = [closedOf(...toBeRevoked), closedOf(toStay)]
    await filled.expectServed()
    expect(closedOf(...toBeRevoked)).toBeGreaterThan(revokedBefore)
    expect(closedOf(toStay)).toBe(stayBefore)
  })

  it('but not those of a trusted proxy', async () => {
    const filled = await startFilled({ MAX_CONNECTIONS: `${few}`, TRUST_PROXY: proxy })
    const { key } = await filled.issue('reader')
    const ofProxy = [idle(110, key, [proxy]), idle(110, 'none', [proxy])].map(filled.attack)
    await filled.untilOpen(220)
    const strangers = filled.attack(idle(few - 220, 'none', ['127.0.0.2']))
    await filled.untilOpen(few)
    await filled.expectServed()
    expect(closedOf(strangers)).toBeGreaterThan(0)
    expect(closedOf(...ofProxy)).toBe(0)
  })
})

/** Connections on which one request was answered. */
function idle(connections: number, key: string, from: readonly string[]): Attack {
  const first = `GET /v1/pets?limit=1 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`
  return { connections, first, reads: true, from }
}

function closedOf(...attackers: readonly Attackers[]): number {
  return attackers.reduce((total, { closed }) => total + closed, 0)
}

/** A service whose connections are to be used up. */
async function startFilled(limits: Environment) {
  const { environment, service, asked } = await startAttacked(limits, 1)
  /** The status of the answer to somebody who connects now. */
  async function statusFor(key: string): Promise<number> {
    const one = new KeepAliveClient(service.url, key)
    const answer = await one.get('/v1/pets?limit=1').catch(() => undefined)
    one.close()
    return answer?.status ?? 0
  }
  return {
    url: service.url,
    issue: (name: string) => petstoreJson(environment, 'keys', 'issue', '--name', name, '--scopes', 'read'),
    /** Resolves once it is refused. */
    async revoke(id: string, key: string): Promise<void> {
      await petstoreJson(environment, 'keys', 'revoke', id, '--yes')
      await eventually(async () => expect(await statusFor(key)).toBe(401))
    },
    attack(attack: Attack): Attackers {
      const attackers = new Attackers(Number(new URL(service.url).port), attack)
      whenDone(() => attackers.stop())
      return attackers
    },
    untilOpen: (connections: number) =>
      vi.waitFor(() => expect(descriptorsOf(service)).toBeGreaterThanOrEqual(connections), { timeout: 60_000 }),
    async expectServed(): Promise<void> {
      expect(await seenFor(1000, service, asked)).toMatchObject({ statuses: [200], lives: true })
    },
  }
}
