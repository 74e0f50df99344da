import { existsSync } from 'node:fs'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client } from '../e2e/client.ts'
import { publishedOf } from '../e2e/published-topic.ts'
import { brokerEnvironment, startCommand, startService } from '../e2e/service.ts'
import { readTopic, storedCount, type Topic } from '../e2e/topic.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { patientWrites, sell } from './history.ts'
import { inProject } from './stored-example.ts'

const patience = { timeout: 120_000, interval: 500 }
const jars = process.env.EXAMPLES_JARS ?? '/tmp/petstore-streams'

describeWithBrokers('the example of Kafka Streams', (brokers) => {
  if (!existsSync(jars) && !process.env.CI) return it.skip('needs the jars, see examples/README.md')

  it('writes each order once, with the name of its pet, whatever kills it', async () => {
    const environment = { ...brokerEnvironment(brokers), ...patientWrites }
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
    const orders = byOrder((await service.listOrders()).map(({ id: orderId, petId }) => ({ petId, orderId })))
    expect(orders.length).toBeGreaterThan(50)
    await vi.waitFor(async () => {
      const lines: Line[] = (await readTopic(output)).map(({ value }) => JSON.parse(String(value)))
      expect(byOrder(lines.map(({ petId, orderId }) => ({ petId, orderId })))).toEqual(orders)
      const { names, removed } = await toldIn(environment)
      for (const { petId, name } of lines) expect(name === null ? removed : names.get(petId)).toContain(name ?? petId)
      expect(lines.filter(({ name }) => name !== null).length).toBeGreaterThan(orders.length / 2)
    }, patience)
  })
})

interface Line {
  readonly petId: number
  readonly orderId: number
  readonly name: string | null
}

function byOrder<T extends { readonly orderId: number }>(orders: readonly T[]): T[] {
  return orders.toSorted((one, other) => one.orderId - other.orderId)
}

/** As examples/README.md starts it. */
function starter({ KAFKA_BROKERS, KAFKA_TOPIC }: Topic, output: Topic) {
  const folder = temporaryFolder()
  const file = inProject('examples/published/streams/OrderNames.java')
  const command = ['java', '-Xmx256m', `-Djava.io.tmpdir=${folder}`, '-cp', `${jars}/*`, file]
  const names = { KAFKA_GROUP: `${KAFKA_TOPIC}.streams`, KAFKA_OUTPUT: output.KAFKA_TOPIC }
  return () => startCommand(command, { KAFKA_BROKERS, KAFKA_TOPIC, ...names })
}

/** The names that each pet ever had, and the pets that left. */
async function toldIn(topic: Topic) {
  const events = (await readTopic(publishedOf(topic))).map(({ value }) => JSON.parse(String(value)))
  const dataOf = (...types: string[]) =>
    events.flatMap(({ type, data }) => (types.includes(type.split('.')[1]) ? [data] : []))
  const pets = Map.groupBy(dataOf('PetCreated', 'PetChanged'), ({ id }) => id)
  return {
    names: new Map([...pets].map(([id, of]) => [id, of.map(({ name }) => name)])),
    removed: dataOf('PetRemoved').map(({ petId }) => petId),
  }
}
