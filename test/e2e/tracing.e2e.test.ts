import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, type Order } from './client.ts'
import type { PrintedSpan } from './print-spans.ts'
import { brokerEnvironment, type ServiceProcess, serviceCommand, startService } from './service.ts'
import { readTopic } from './topic.ts'

const [node = '', ...main] = serviceCommand
const traced = [node, '--import', fileURLToPath(new URL('print-spans.ts', import.meta.url)), ...main]
const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

/** The spans of the trace in which this process had a part, all of which it exports before it ends. */
async function spansOf(service: ServiceProcess): Promise<PrintedSpan[]> {
  expect(await service.end('SIGTERM')).toBe(0)
  const lines = service.output().split('\n')
  const spans = lines.filter((line) => line.startsWith('{"span"')).map((line) => JSON.parse(line) as PrintedSpan)
  return spans.filter((span) => span.traceId === traceId)
}

describeWithBrokers('with an SDK loaded by --import', (brokers) => {
  it('a trace goes from the process that answers, over the events on Kafka, to the process that projects', async () => {
    const environment = brokerEnvironment(brokers)
    const start = (ROLE: string) => startService({ ...environment, ROLE }, traced)
    const [projector, api] = await Promise.all([start('projector'), start('api')])
    const client = new Client(api)
    const pet = await client.create('Rex')
    const placed = await client.place(pet.id, { traceparent })
    expect(placed.status).toBe(201)
    const order = placed.body as Order
    expect((await client.update(order.id, 'approved', { traceparent })).status).toBe(200)

    const topic = environment.KAFKA_TOPIC
    const [ofApi, applies] = await Promise.all([spansOf(api), spansOf(projector)])
    expect(ofApi.map(({ span }) => span).toSorted()).toEqual([
      'PATCH /v1/store/orders/:orderId',
      'POST /v1/store/orders',
      ...Array(2).fill(`append ${topic}`),
    ])
    const appends = ofApi.filter(({ span }) => span.startsWith('append'))
    const requests = ofApi.filter(({ span }) => !span.startsWith('append'))
    expect(applies.map(({ span }) => span)).toEqual(Array(2).fill(`apply ${topic}`))
    expect(appends.map(({ parentId }) => parentId).toSorted()).toEqual(requests.map(({ id }) => id).toSorted())
    expect(applies.map(({ parentId }) => parentId).toSorted()).toEqual(appends.map(({ id }) => id).toSorted())

    const events = (await readTopic(environment)).map(({ value }) => JSON.parse(String(value)).traceparent)
    expect(events.slice(1).toSorted()).toEqual(appends.map(({ id }) => `00-${traceId}-${id}-01`).toSorted())
  })
})
