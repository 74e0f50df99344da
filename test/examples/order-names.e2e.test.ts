import { existsSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client } from '../e2e/client.ts'
import { publishedOf } from '../e2e/published-topic.ts'
import { brokerEnvironment, startCommand, startService } from '../e2e/service.ts'
import { readTopic, storedCount, type Topic } from '../e2e/topic.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { sell } from './history.ts'
import { inProject } from './stored-example.ts'

const patience = { timeout: 120_000, interval: 100 }
const jars = process.env.EXAMPLES_JARS ?? '/tmp/petstore-streams'

describeWithBrokers('the example of Kafka Streams', (brokers) => {
  if (!existsSync(jars) && !process.env.CI) return it.skip('needs the jars, see examples/README.md')

  it('writes each order once, with the name of its pet, whatever kills it', async () => {
    const environment = brokerEnvironment(brokers)
    const output = { ...environment, KAFKA_TOPIC: `${environment.KAFKA_TOPIC}.order-names` }
    const service = new Client(await startService(environment))
    await sell(service, 40)
    const start = starter(environment, output)
    let program = start()
    for (let round = 0; round < 3; round++) {
      const before = round === 0 ? 0 : await storedCount(output)
      const hasWritten = async () => expect(await storedCount(output)).toBeGreaterThan(before)
      await Promise.all([sell(service, 10), vi.waitFor(hasWritten, patience)])
      expect(await program.end('SIGKILL')).toBe('SIGKILL')
      program = start()
    }
    await sell(service, 10)
    const { placed, names, removed } = await toldIn(environment, () => service.listOrders())
    expect(placed.length).toBeGreaterThan(50)
    const lines = await vi.waitFor(async () => {
      const found = (await readTopic(output)).map(({ value }) => JSON.parse(String(value)))
      expect(found.map(({ petId, orderId }) => ({ petId, orderId })).toSorted(byOrder)).toEqual(placed)
      return found
    }, patience)
    for (const { petId, name } of lines) {
      if (name === null) expect(removed).toContain(petId)
      else expect(names.get(petId)).toContain(name)
    }
    expect(lines.filter(({ name }) => name !== null).length).toBeGreaterThan(placed.length / 2)
  })
})

const byOrder = (one: { readonly orderId: number }, other: { readonly orderId: number }) => one.orderId - other.orderId

/** As examples/README.md starts it. */
function starter({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic, output: Topic) {
  const folder = temporaryFolder()
  const file = inProject('examples/published/streams/OrderNames.java')
  const command = ['java', '-Xmx256m', `-Djava.io.tmpdir=${folder}`, '-cp', `${jars}/*`, file]
  const names = { KAFKA_GROUP: `${KAFKA_TOPIC}.streams`, KAFKA_OUTPUT: output.KAFKA_TOPIC }
  return () => startCommand(command, { KAFKA_BROKERS, KAFKA_TOPIC, ...names })
}

/** Once all orders are told: each that was placed, the names that each pet ever had, and the pets that left. */
async function toldIn(topic: Topic, orders: () => Promise<readonly object[]>) {
  const all = await orders()
  const events = await vi.waitFor(async () => {
    const found = (await readTopic(publishedOf(topic))).map(({ value }) => JSON.parse(String(value)))
    expect(found.filter(({ type }) => type === 'petstore.OrderPlaced.v1')).toHaveLength(all.length)
    return found
  }, patience)
  const dataOf = (...names: string[]) =>
    events.flatMap(({ type, data }) => (names.includes(type.split('.')[1]) ? [data] : []))
  const placed = dataOf('OrderPlaced').map(({ petId, orderId }) => ({ petId, orderId }))
  const pets = Map.groupBy(dataOf('PetCreated', 'PetChanged'), ({ id }) => id)
  return {
    placed: placed.toSorted(byOrder),
    names: new Map([...pets].map(([id, of]) => [id, of.map(({ name }) => name)])),
    removed: dataOf('PetRemoved').map(({ petId }) => petId),
  }
}
