import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { deleteTopics } from '../brokers/topics.ts'
import { Client, inParallel } from '../e2e/client.ts'
import { publishedOf } from '../e2e/published-topic.ts'
import { brokerEnvironment, startCommand, startService } from '../e2e/service.ts'
import { produce, storedCount } from '../e2e/topic.ts'
import { disturb, manyPets, parkAndDiscard, patientWrites, sell } from './history.ts'
import { pasted } from './pasted.ts'
import { hasPython, inEachLanguage, StoredExample } from './stored-example.ts'

const patience = { timeout: 120_000, interval: 50 }
const stored = { table: 'outbox', progress: 'count(*)', anew: 'DELETE FROM positions' }

describeWithBrokers('the examples of consumers', (brokers) => {
  it('send one mail for each sale, whatever kills them', async () => {
    const environment = brokerEnvironment(brokers)
    const service = new Client(await startService({ ...environment, ...patientWrites }))
    await sell(service, 40)
    await produce(environment, manyPets)
    await disturb(environment)
    await parkAndDiscard(environment)

    const mailers = inEachLanguage('mailer').map((name) => new StoredExample(name, stored, environment))
    for (let round = 0; round < 5; round++) {
      await Promise.all([sell(service, 10), ...mailers.map((mailer) => mailer.killAtWork())])
    }
    const shown = await shownBy(service)
    expect(shown.mails.length).toBeGreaterThan(30)
    for (const mailer of mailers) await mailer.until(() => expect(takenBy(mailer, shown)).toEqual(shown))

    const react = startCommand([process.execPath, pasted('React to events', 15, environment)], {})
    const sold = () => [...react.output().matchAll(/\S+: (pet \d+ is sold)\n/g)].map(([, line]) => line).toSorted()
    const sales = shown.mails.map((mail) => mail.replace(/.*: /, '')).toSorted()
    await vi.waitFor(() => expect(sold()).toEqual(sales), patience)

    // An operator has the topic written anew: its offsets are others, and it grows beyond the positions of before.
    for (const mailer of mailers) await mailer.kill()
    await deleteTopics(environment.KAFKA_BROKERS, publishedOf(environment).KAFKA_TOPIC)
    await sell(service, 80)
    await vi.waitFor(() => storedCount(publishedOf(environment)), patience) // it is there again
    const all = await shownBy(service)
    for (const mailer of mailers) mailer.beginAnew()
    for (const mailer of mailers) await mailer.until(() => expect(takenBy(mailer, all)).toEqual(all))
  })

  // In CI it has to be there: the test above fails without it.
  if (!hasPython && !process.env.CI) it.skip('in Python: needs confluent-kafka, see examples/README.md')
})

interface Taken {
  /** The last version of each pet that there is. */
  readonly versions: Readonly<Record<string, number>>
  readonly mails: readonly string[]
}

/** What a consumer that took every event has. */
async function shownBy(service: Client): Promise<Taken> {
  const pets = await service.list()
  const versions = await inParallel(pets.length, 8, async (i) => {
    const id = String(pets[i]?.id)
    const { status, body, text } = await service.request(`/v1/pets/${id}/events?limit=100`)
    expect(status, text).toBe(200)
    const [last] = (body as { readonly streamversion?: number }[]).slice(-1)
    return [id, last?.streamversion ?? 1] as const
  })
  const sales = await service.listOrders('delivered')
  const mails = sales.map(({ id, petId }) => `Order ${id}: pet ${petId} is sold`)
  return { versions: Object.fromEntries(versions), mails: mails.toSorted() }
}

/** What a mailer has of the pets that are shown. */
function takenBy(mailer: StoredExample, { versions }: Taken): Taken {
  const streams = mailer.rows('SELECT stream, version FROM streams')
  const ofShown = streams.flatMap(({ stream, version }) => {
    const id = String(stream)
    return id in versions ? [[id, Number(version)] as const] : []
  })
  const mails = mailer.rows('SELECT mail FROM outbox ORDER BY mail').map(({ mail }) => String(mail))
  return { versions: Object.fromEntries(ofShown), mails }
}
