import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { patientKafka } from '../brokers/topics.ts'
import { beginTransaction } from '../brokers/transactions.ts'
import { Client, codeOf, createMany } from './client.ts'
import { brokerEnvironment, expectVerified, petstoreOutput, startService } from './service.ts'
import { petCreated } from './topic.ts'

const patience = { timeout: 30_000, interval: 50 }

function petOf(id: number) {
  return petCreated({ eventId: `foreign ${id}`, pet: { id, ...rex }, streamversion: 1 })
}
const rex = { name: 'Rex', categoryId: 1, status: 'available' }

describeWithBrokers('pets that another producer adds in transactions that interleave', (brokers) => {
  it('are there where they are committed, and nowhere where they are aborted', async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    const client = new Client(service)
    const ids = { committed: [5_000_001, 5_000_002], aborted: [5_000_011, 5_000_012, 5_000_013] }
    const begin = () => beginTransaction(patientKafka(brokers.kafkaBrokers), environment.KAFKA_TOPIC)
    const ofAborted = await Promise.all(ids.aborted.map(begin))
    const ofCommitted = await begin()
    for (const [i, each] of ofAborted.entries()) await each.send(petOf(ids.aborted[i] ?? 0))
    await ofCommitted.send(...ids.committed.map(petOf))
    for (const each of ofAborted.toReversed()) await each.abort()
    await ofCommitted.commit()
    const own = (await createMany(client, 12)).map(({ id }) => id)
    const there = [...own, ...ids.committed].toSorted((one, other) => one - other)

    const expectOnlyCommitted = async () => {
      await vi.waitFor(async () => expect((await client.list()).map(({ id }) => id)).toEqual(there), patience)
      for (const id of ids.aborted) {
        expect(codeOf(await client.get(id))).toBe('pet_not_found')
        expect(codeOf(await client.request(`/v1/pets/${id}/events`))).toBe('pet_not_found')
        expect(codeOf(await client.place(id))).toBe('unknown_pet')
      }
      const { events } = await client.told(there.length)
      expect(events.map(({ subject }) => Number(subject)).toSorted((one, other) => one - other)).toEqual(there)
      const lines = (await petstoreOutput(environment, 'events', '--json')).trimEnd().split('\n')
      const shown = lines.map((line) => Number(JSON.parse(line).event.subject))
      expect(shown.toSorted((one, other) => one - other)).toEqual(there)
      await expectVerified(environment)
    }
    await expectOnlyCommitted()
    await petstoreOutput(environment, 'rebuild')
    await expectOnlyCommitted()
  })
})
