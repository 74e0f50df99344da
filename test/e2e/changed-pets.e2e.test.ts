import { randomUUID } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { eventRecord } from '../lib/event-record.ts'
import { shared } from '../lib/when-done.ts'
import { inParallel, outcomeOf } from './client.ts'
import {
  brokerEnvironment,
  expectVerified,
  type ParkedEvent,
  petstore,
  petstoreJson,
  placeOf,
  startRoles,
} from './service.ts'
import { produce } from './topic.ts'

const rounds = 200
const patience = { timeout: 60_000, interval: 50 }

describeWithBrokers('rivals about a pet, on two instances', (brokers) => {
  const roles = shared(() => startRoles(brokerEnvironment(brokers)))

  /** A pet that both know, its tag, and the clients in turn. */
  async function rivals(round: number) {
    const { clients } = roles()
    const [one, other] = round % 2 ? clients : clients.toReversed()
    if (one === undefined || other === undefined) throw new Error('there are two instances')
    const { id } = await one.create(`wanted ${round}`)
    const { headers } = await one.get(id)
    return { one, other, id, ifMatch: { 'if-match': headers.get('etag') ?? '' } }
  }

  async function eventsOf(id: number): Promise<string[]> {
    const { body } = await roles().clients[0].request(`/v1/pets/${id}/events`)
    return (body as { readonly type: string }[]).map(({ type }) => type.split('.')[1] ?? '')
  }

  it('of two changes with one If-Match one is made', async () => {
    const outcomes = await inParallel(rounds, 8, async (round) => {
      const { one, other, id, ifMatch } = await rivals(round)
      const answers = await Promise.all([
        one.change(id, { name: 'one' }, ifMatch),
        other.change(id, { name: 'other' }, ifMatch),
      ])
      const won = answers.find(({ status }) => status === 200)
      expect((await one.get(id)).body).toEqual(won?.body)
      expect(await eventsOf(id)).toEqual(['PetCreated', 'PetChanged'])
      return answers.map(outcomeOf).sort().join()
    })
    expect(new Set(outcomes)).toEqual(new Set(['200,412 precondition_failed']))
  })

  it('a change and an order are told in the order of the log', async () => {
    const outcomes = await inParallel(rounds, 8, async (round) => {
      const { one, other, id, ifMatch } = await rivals(round)
      const [changed, placed] = await Promise.all([one.change(id, { name: 'changed' }, ifMatch), other.place(id)])
      const events = await eventsOf(id)
      const isChanged = changed.status === 200
      const expected = isChanged ? ['PetCreated', 'PetChanged', 'OrderPlaced'] : ['PetCreated', 'OrderPlaced']
      expect({ answer: outcomeOf(changed), events }).toEqual({ answer: outcomeOf(changed), events: expected })
      expect((await one.get(id)).body).toMatchObject({
        name: isChanged ? 'changed' : `wanted ${round}`,
        status: 'pending',
      })
      return `${outcomeOf(changed)} ${outcomeOf(placed)}`
    })
    for (const outcome of new Set(outcomes)) expect(outcome).toMatch(/^(200|412 precondition_failed) 201$/)
  })

  it('a removal and an order: one of them comes first, and the other is refused for it', async () => {
    const outcomes = await inParallel(rounds, 8, async (round) => {
      const { one, other, id } = await rivals(round)
      const [removed, placed] = await Promise.all([one.remove(id), other.place(id)])
      const isRemoved = removed.status === 204
      expect((await other.get(id)).status).toBe(isRemoved ? 404 : 200)
      expect(await eventsOf(id)).toEqual(['PetCreated', isRemoved ? 'PetRemoved' : 'OrderPlaced'])
      return `${outcomeOf(removed)} ${outcomeOf(placed)}`
    })
    for (const outcome of new Set(outcomes)) expect(outcome).toMatch(/^(204 422 unknown_pet|409 pet_is_ordered 201)$/)
  })

  it('nothing is changed or removed behind a parked event of its orders, until that is discarded', async () => {
    const { environment } = roles()
    const { one, id } = await rivals(0)
    const [subject, time] = [String(id), new Date().toISOString()]
    const said = { type: 'petstore.OrderApproved.v1', time, streamversion: 2, data: { orderId: id, petId: id } }
    await produce(environment, [eventRecord({ id: randomUUID(), source: '/v1/pets', subject, ...said })])
    await vi.waitFor(async () => expect(outcomeOf(await one.remove(id))).toBe('503 stream_parked'), patience)
    expect(outcomeOf(await one.change(id, { name: 'changed' }))).toBe('503 stream_parked')
    const [parked]: ParkedEvent[] = await petstoreJson(environment, 'parked', 'list')
    await petstore(environment, 'parked', 'discard', placeOf(parked as ParkedEvent), '--yes')
    await vi.waitFor(async () => expect(outcomeOf(await one.remove(id))).toBe('204'), patience)
    await expectVerified(environment)
  })
})
