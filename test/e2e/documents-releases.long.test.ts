import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { type Answer, Client, createOnce, inParallel, keyed, type Order } from './client.ts'
import { expectTables, fillingsOf } from './document-topics.ts'
import { patience, untilPublishing } from './published-topic.ts'
import { brokerEnvironment, type ServiceProcess, startService, stop } from './service.ts'

const nextRelease = new URL('./next-release.ts', import.meta.url).href

/** Asks again where a busy machine was too late: each is the same if it was done before. */
function answered(statuses: readonly number[], ask: () => Promise<Answer>): Promise<Answer> {
  return vi.waitFor(async () => {
    const answer = await ask()
    expect(statuses, answer.text).toContain(answer.status)
    return answer
  }, patience)
}

describeWithBrokers('topics of documents of two releases', (brokers) => {
  it('show in the end what the one that is left shows, wherever lanes went to and fro', async () => {
    const environment = brokerEnvironment(brokers)
    const nextEnvironment = { ...environment, NODE_OPTIONS: `--import=${nextRelease}` }
    const known = { pets: [] as number[], orders: [] as number[] }
    /** Pets that are added, changed, ordered and removed, until something is done. */
    async function writeWhile<T>(service: ServiceProcess, work: Promise<T>): Promise<T> {
      let isDone = false
      const done = () => {
        isDone = true
      }
      void work.then(done, done)
      const client = new Client(service)
      do {
        const added = await inParallel(3, 3, (i) => createOnce(client, `pet ${known.pets.length + i}`))
        const pets = added.map(({ pet }) => pet.id)
        known.pets.push(...pets)
        for (const id of pets) await answered([200], () => client.change(id, { description: 'likes children' }))
        const [ordered = 0, removed = 0] = pets
        const order = await answered([201], () => client.place(ordered, keyed(`order of ${ordered}`)))
        known.orders.push((order.body as Order).id)
        await answered([204, 404], () => client.remove(removed))
      } while (!isDone)
      return await work
    }
    async function killBeside(victim: ServiceProcess, other: ServiceProcess): Promise<void> {
      await victim.end('SIGKILL')
      await writeWhile(other, untilPublishing(other))
    }

    let own = await startService(environment)
    let next = await writeWhile(own, startService(nextEnvironment))
    for (let round = 0; round < 2; round++) {
      await killBeside(own, next)
      own = await writeWhile(next, startService(environment))
      await killBeside(next, own)
      next = await writeWhile(own, startService(nextEnvironment))
    }
    await stop(next)
    await expectTables(environment, new Client(own), known)
    next = await writeWhile(own, startService(nextEnvironment))
    await stop(own)
    await expectTables(environment, new Client(next), known)

    const back = await writeWhile(next, startService(environment)) // rolled back
    await stop(next)
    await expectTables(environment, new Client(back), known)
    for (const fillings of (await fillingsOf(environment)).values()) {
      const turnsOfReleases = fillings.filter(({ projections }, i) => projections !== fillings[i - 1]?.projections)
      expect(turnsOfReleases.length).toBeGreaterThanOrEqual(6)
    }
  })
})
