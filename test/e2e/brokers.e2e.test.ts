import { describe, expect, it } from 'vitest'
import type { asyncApiDocument } from '../../src/domain/asyncapi.ts'
import { compileCheck } from '../../src/lib/validation.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, createMany, expectExactText, outcomeOf, type Pet, untilServed } from './client.ts'
import { Load } from './load.ts'
import { brokerEnvironment, startRoles, startService } from './service.ts'
import { readTopic } from './topic.ts'

describeWithBrokers('on Kafka and Redis', (brokers) => {
  async function start() {
    const roles = await startRoles(brokerEnvironment(brokers))
    await untilServed(roles.clients[1], [await roles.clients[0].create('the first')]) // the projector has joined its group
    return roles
  }

  it('a pet added through one instance is seen by the next GET on the other', async () => {
    const { clients } = await start()
    for (let i = 0; i < 100; i++) {
      const pet = await clients[i % 2 ? 0 : 1].create(`pet ${i}`)
      expect((await clients[i % 2 ? 1 : 0].get(pet.id)).body).toEqual(pet)
    }
  })

  it('all roles in one process serve as well, and any Kafka client reads what /asyncapi.json says, where it says', async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const pets = await createMany(client, 100)
    await untilServed(client, pets)
    const { body } = await client.request('/asyncapi.json')
    const { channels, components } = body as ReturnType<typeof asyncApiDocument>
    expect(channels.pets.address).toBe(environment.KAFKA_TOPIC)
    const described = components.messages['petstore.PetCreated.v1']
    const messages = await readTopic(environment)
    const check = compileCheck(described?.payload ?? {})
    for (const { key, value, headers } of messages) {
      const event = JSON.parse(String(value))
      expect(check(event)).toBeUndefined()
      expect(String(key)).toBe(String(event.data.id))
      expect(String(key)).toMatch(new RegExp(described?.bindings.kafka.key.pattern ?? 'none'))
      expect(event.subject).toBe(String(key))
      expect(String(headers?.['content-type'])).toBe(described?.headers.properties['content-type'].const)
      expect(described?.contentType).toBe('application/cloudevents+json')
      expect(pets).toContainEqual(event.data)
    }
    expect(new Set(messages.map(({ value }) => JSON.parse(String(value)).id)).size).toBe(pets.length)
    await expectExactText(client)
  })

  describe('a Consistency-Token of one instance', () => {
    /** A sold pet: others write pets that are available. Not waited for. */
    async function createSold(client: Client, name: string): Promise<{ pet: Pet; token: string }> {
      const pet = { name, categoryId: 1, status: 'sold' }
      const { status, headers, body, text } = await client.post(pet, { prefer: 'wait=0' })
      expect(status, text).toBe(201)
      return { pet: body as Pet, token: headers.get('consistency-token') ?? '' }
    }

    it('makes GETs on the other have the pet, or say that they cannot yet, under load', async () => {
      const [there, here] = (await start()).clients
      const load = new Load([there], 32)
      await load.until(200)
      const sold: Pet[] = []
      let seen = 0
      for (let i = 0; i < 90; i++) {
        const { pet, token } = await createSold(there, `sold ${i}`)
        sold.push(pet)
        const headers = { 'consistency-token': token }
        const asked = [here.get(pet.id, headers), here.request('/v1/pets?status=sold&limit=100', { headers })]
        const wanted = [pet, expect.arrayContaining(sold)]
        for (const [kind, answer] of (await Promise.all(asked)).entries()) {
          if (answer.status !== 200) expect(outcomeOf(answer)).toBe('503 read_model_behind')
          else expect(answer.body).toEqual(wanted[kind])
          if (answer.status === 200) seen++
        }
      }
      expect(seen).toBeGreaterThan(0)
      await load.stop()
    })

    it('makes a GET on the other process wait for a paused projector', async () => {
      const { clients, projector } = await start()
      const [there, here] = clients
      process.kill(projector.pid, 'SIGSTOP')
      const { pet, token } = await createSold(there, 'not projected')
      const get = (prefer: string) => here.get(pet.id, { 'consistency-token': token, prefer })
      expect((await here.get(pet.id)).status).toBe(404)
      expect(outcomeOf(await get('wait=0'))).toBe('503 read_model_behind')
      const waiting = get('wait=10')
      expect(outcomeOf(await get('wait=1'))).toBe('503 read_model_behind')
      process.kill(projector.pid, 'SIGCONT')
      expect((await waiting).body).toEqual(pet)
    })
  })
})
