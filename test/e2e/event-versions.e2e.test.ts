import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import type { Exchange } from '../judge/history.ts'
import { Client, outcomeOf } from './client.ts'
import { buying, Load } from './load.ts'
import { brokerEnvironment, type Environment, startService, stop } from './service.ts'
import { readTopic, type Topic } from './topic.ts'

const preload = new URL('./first-step.ts', import.meta.url).href

/** The types of the events about pets in the topic, each once. */
async function typesIn(environment: Environment & Topic): Promise<string[]> {
  const records = await readTopic(environment)
  const types = records.map(({ value }) => (JSON.parse(String(value)) as { type: string }).type)
  return [...new Set(types)].filter((type) => /Pet(Created|Changed)/.test(type)).sort()
}

const first = ['petstore.PetChanged.v1', 'petstore.PetCreated.v1']
const both = first.flatMap((type) => [type, type.replace('.v1', '.v2')]).sort()

/** The judge knows this release: what is not written by the one before it is not in the log either. */
const asNotStored = (exchange: Exchange): Exchange =>
  exchange.code === 'event_version_not_written' ? { ...exchange, code: 'event_log_unavailable' } : exchange

describeWithBrokers('a new version of an event', (brokers) => {
  it('is read by one release and written by the next one: nobody is told anything wrong, forth and back', async () => {
    const environment = brokerEnvironment(brokers)
    const firstEnvironment = { ...environment, NODE_OPTIONS: `--import=${preload}` }
    const reader = await startService(firstEnvironment)
    const load = new Load([reader], 6, buying)
    load.follow(2)
    const untilMore = async () => {
      await load.until(30)
      await load.until(10, 200, 'updatePet')
    }
    await untilMore()
    const described = { name: 'Rex', categoryId: 7, description: 'Likes children' }
    const send = (path: string, method: string, body: object) => (client: Client) => client.send(method, path, body)
    const add = send('/v1/pets', 'POST', described)
    expect(outcomeOf(await add(new Client(reader)))).toBe('503 event_version_not_written')
    expect(await typesIn(environment)).toEqual(first)

    const writer = await startService(environment)
    load.turnTo([reader, writer])
    await untilMore()
    const added = await add(new Client(writer))
    expect(added).toMatchObject({ status: 201, body: described })
    const { id } = added.body as { id: number }
    const token = { 'consistency-token': String(added.headers.get('consistency-token')) }
    const read = await new Client(reader).request(`/v1/pets/${id}`, { headers: token })
    expect(read).toMatchObject({ status: 200, body: described })
    expect(outcomeOf(await send(`/v1/pets/${id}`, 'PATCH', { name: 'Max' })(new Client(reader)))).toBe(
      '503 event_version_not_written',
    )
    load.turnTo([writer])
    await untilMore()
    await stop(reader)

    const again = await startService(firstEnvironment)
    load.turnTo([writer, again])
    await untilMore()
    load.turnTo([again])
    await stop(writer)
    await untilMore()
    const plain = await send(`/v1/pets/${id}`, 'PATCH', { description: null })(new Client(again))
    expect(plain).toMatchObject({ status: 200, text: expect.not.stringContaining('description') })
    expect(await typesIn(environment)).toEqual(both)
    await load.expectTrue(firstEnvironment, asNotStored)
    expect(load.failed.filter(({ code }) => code !== 'event_version_not_written')).toEqual([])
    expect(load.codes).toContain('event_version_not_written')
    const client = new Client(again)
    // The feed can be asked for each.
    for (const type of both) expect((await client.told(1, `?from=start&type=${type}`)).events).toMatchObject([{ type }])
  })
})
