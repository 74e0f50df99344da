import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { eventRecord } from '../lib/event-record.ts'
import { Client } from './client.ts'
import { expectPublished } from './published-topic.ts'
import { brokerEnvironment, petstoreOutput, startService } from './service.ts'
import { otherIdBeside, produce } from './topic.ts'

const steps = ['OrderPlaced', 'OrderApproved', 'OrderDelivered']

/** What no request of the pet store comes to: an order that is delivered at once. */
function deliveredAtOnce(petId: number, streamversion: number) {
  const orderId = otherIdBeside(petId)
  const events = steps.map((step) => ({ id: step, type: `petstore.${step}.v1`, data: { orderId, petId } }))
  const record = eventRecord({
    ...{ id: 'several', type: 'petstore.Several.v1', source: '/v1/pets', subject: String(petId), streamversion },
    ...{ time: '2026-11-28T12:00:00.000Z', idempotencykey: 'a secret', data: { events } },
  })
  const { idempotencykey: _, ...shown } = JSON.parse(record.value)
  return { record, told: events.map((own, streamindex) => ({ ...shown, ...own, streamindex })) }
}

describeWithBrokers('several events of one record', (brokers) => {
  it('are told each by itself, and each to whoever breaks off between them', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const { id } = await client.create('Rex')
    const history = async () => (await client.request(`/v1/pets/${id}/events`)).body
    const [added] = (await history()) as readonly object[]
    const { record, told } = deliveredAtOnce(id, 2)
    const all = [added, ...told]

    const live = await client.follow('/v1/events')
    await produce(environment, [record])
    let lastId = ''
    for await (const block of live) {
      lastId = block.id ?? lastId
      if (block.data !== undefined) break // behind the first of them
    }
    expect((await client.told(3, '', { 'last-event-id': lastId })).events).toEqual(told)
    const { events, lastId: end } = await client.told(4)
    expect(events).toEqual(all)
    const { id: next } = await client.create('Max')
    expect((await client.told(1, '', { 'last-event-id': end })).events).toMatchObject([{ subject: String(next) }])

    expect(await history()).toEqual(all)
    for (const limit of [1, 2, 3]) {
      const pages = await Array.fromAsync(client.pages<object>(`/v1/pets/${id}/events?limit=${limit}`))
      expect(pages.flatMap(({ documents }) => documents)).toEqual(all)
      expect(pages[0]?.documents).toHaveLength(limit)
    }
    await expectPublished(environment, client, [id, next])
    const shown = await petstoreOutput(environment, 'events', '--pet', String(id))
    expect(shown).toContain(`petstore.Several.v1 (${steps.join(', ')})`)
  })
})
