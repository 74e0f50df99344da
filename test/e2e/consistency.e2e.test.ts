import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { type Client, codeOf, type Pet } from './client.ts'
import { type Roles, startRoles } from './roles.ts'
import { brokerEnvironment } from './service-process.ts'
import { WriteLoad } from './write-load.ts'

const patience = { timeout: 60_000, interval: 50 }
const timeout = 180_000

describeWithBrokers('a Consistency-Token of one instance', (brokers) => {
  async function start(): Promise<Roles> {
    const roles = await startRoles(brokerEnvironment(brokers))
    const first = await roles.clients[0].create('the first')
    await vi.waitFor(async () => expect((await roles.clients[1].get(first.id)).status).toBe(200), patience)
    return roles
  }

  /** A sold pet: others write pets that are available. Not waited for. */
  async function createSold(client: Client, name: string): Promise<{ pet: Pet; token: string }> {
    const { status, headers, body } = await client.post({ name, categoryId: 1, status: 'sold' }, { prefer: 'wait=0' })
    expect(status, JSON.stringify(body)).toBe(201)
    return { pet: body as Pet, token: headers.get('consistency-token') ?? '' }
  }

  it('makes GETs on the other have the pet, or say that they cannot yet, under load', { timeout }, async () => {
    const { clients } = await start()
    const [there, here] = clients
    const load = new WriteLoad(there, 32)
    await load.until(200, 201)
    const sold: Pet[] = []
    let seen = 0
    for (let i = 0; i < 90; i++) {
      const { pet, token } = await createSold(there, `sold ${i}`)
      sold.push(pet)
      const headers = { 'consistency-token': token }
      const byId = here.get(pet.id, headers)
      const listed = here.request('/v1/pets?status=sold&limit=100', { headers })
      for (const [answer, wanted] of [
        [await byId, pet],
        [await listed, expect.arrayContaining(sold)],
      ] as const) {
        if (answer.status === 200) {
          expect(answer.body).toEqual(wanted)
          seen++
        } else expect([answer.status, codeOf(answer)]).toEqual([503, 'read_model_behind'])
      }
    }
    expect(seen).toBeGreaterThan(0)
    await load.stop()
  })

  it('makes a GET on the other wait for a projector that stands still', { timeout }, async () => {
    const { clients, projector } = await start()
    const [there, here] = clients
    process.kill(projector.pid, 'SIGSTOP')
    const { pet, token } = await createSold(there, 'not projected')
    const get = (prefer: string) => here.get(pet.id, { 'consistency-token': token, prefer })
    expect((await here.get(pet.id)).status).toBe(404)
    expect(codeOf(await get('wait=0'))).toBe('read_model_behind')
    const waiting = get('wait=10')
    expect(codeOf(await get('wait=1'))).toBe('read_model_behind')
    process.kill(projector.pid, 'SIGCONT')
    expect((await waiting).body).toEqual(pet)
  })
})
