import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { openSqliteEventLog } from '../../src/engine/log/sqlite/sqlite-event-log.ts'
import { describeWithBrokers } from '../brokers/describe.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { apiKey, Client, createMany, type Pet } from './client.ts'
import { expectSays, goTo, hasBrowser, send, signIn, useConsole, violations } from './console-page.ts'
import { appendToLog } from './embedded-log.ts'
import { Load } from './load.ts'
import { untilPublishing } from './published-topic.ts'
import {
  brokerEnvironment,
  type Environment,
  petstoreJson,
  petstoreOutput,
  startOwnBrokers,
  startService,
} from './service.ts'
import { petCreated, produce } from './topic.ts'

const patience = { timeout: 30_000, interval: 50 }

/** The answer to what the console asks for. */
async function statusOf(url: string, path: string): Promise<number> {
  const headers = { authorization: `Bearer ${apiKey}` }
  return (await fetch(`${url}/console/api/${path}`, { headers })).status
}

describe.skipIf(!hasBrowser)('work in the console', () => {
  const openConsole = useConsole()

  /** A pet is added, ordered and delivered, and the event of that is found: by clicking alone. */
  async function followOnePet(environment: Environment, others = 0): Promise<void> {
    const service = await startService(environment)
    const { url } = service
    new Load([service], others)
    const { page, problems } = await openConsole(url)
    await signIn(page)
    await goTo(page, 'Documents')
    const pet = await send(page, 'Add an animal', { name: 'Rex', categoryId: '9223372036854775807' })
    expect(pet).toContain('"categoryId": 9223372036854775807')
    const petId = idIn(pet)
    await page.getByRole('link', { name: 'store/orders' }).click()
    const orderId = idIn(await send(page, 'Order a pet (beta)', { petId }))
    await page.getByRole('link', { name: orderId, exact: true }).click()
    for (const status of ['approved', 'delivered'])
      expect(await send(page, 'Change the status of an order (beta)', { status })).toContain(`"status": "${status}"`)
    await page.getByRole('link', { name: 'Its events' }).click()
    await expectSays(page, `Events of pet ${petId}`)
    await expectSays(page, 'petstore.OrderDelivered.v1')
    await expectSays(page, `orders ${orderId} changed`)
    expect(problems).toEqual([])
  }

  /** The page begins with the latest of many events; earlier ones come by the keyboard, those of now above. */
  async function lookBack(environment: Environment): Promise<void> {
    const service = await startService(environment)
    if ('KAFKA_BROKERS' in environment) await untilPublishing(service) // until then topics are being made
    const client = new Client(service)
    const pets = await createMany(client, 130)
    const { page, problems } = await openConsole(service.url)
    await signIn(page)
    await goTo(page, 'Events')
    const rows = page.locator('tbody tr')
    await expect.poll(() => rows.count(), patience).toBe(50)
    const shown = async () => (await rows.locator('a').allInnerTexts()).map(Number)
    const latest = await shown()
    expect(latest).toContain(pets.at(-1)?.id)
    expect(latest).not.toContain(pets[0]?.id)
    expect(await violations(page)).toEqual([])
    const [late] = (await createMany(client, 1)) as [Pet]
    await expect.poll(shown, patience).toEqual([late.id, ...latest])
    await page.getByRole('button', { name: 'Earlier events' }).focus()
    await expect
      .poll(async () => {
        await page.keyboard.press('End')
        return page.locator('main').innerText()
      }, patience)
      .toContain('The log begins here.')
    const all = await shown()
    expect(all.slice(0, 51)).toEqual([late.id, ...latest])
    expect(all.toSorted((one, other) => one - other)).toEqual(
      [...pets, late].map(({ id }) => id).toSorted((one, other) => one - other),
    )
    expect(await violations(page)).toEqual([])
    expect(problems).toEqual([])
  }

  it('goes on where the rate of the key ends, and says when', async () => {
    const service = await startService({ DATA_DIR: temporaryFolder(), RATE_LIMIT: '4/5' })
    const { page } = await openConsole(service.url)
    await signIn(page)
    const isLimited = () =>
      expectSays(page, /has sent the 4 reads that it may send in 5 s\. It may send more in [1-5] s\./)
    await isLimited()
    await goTo(page, 'Parked')
    await expectSays(page, 'No event is parked.')
    await expect.poll(() => page.getByRole('alert').count(), patience).toBe(0)
    await isLimited()
  })

  it('changes a category as it does a pet, and finds what happened to each by its name', async () => {
    const { url } = await startService({ DATA_DIR: temporaryFolder() })
    const pet = await new Client({ url }).create('Rex')
    const { page, problems } = await openConsole(url)
    await signIn(page)
    await goTo(page, 'Documents')
    await page.getByRole('link', { name: 'categories' }).click()
    const id = idIn(await send(page, 'Add a category (beta)', { name: 'Dogs' }))
    await page.getByRole('link', { name: id, exact: true }).click()
    expect(await send(page, 'Change a category (beta)', { description: 'They like walks' })).toContain(
      'They like walks',
    )
    await page.getByRole('link', { name: 'Its events' }).click()
    await expectSays(page, `Events of category ${id}`)
    await expectSays(page, `categories ${id} changed`)
    expect(await violations(page)).toEqual([])
    for (const [stream, title, said] of [
      [`${pet.id}`, `Events of pet ${pet.id}`, 'petstore.PetCreated.v1'],
      [`categories/${id}`, `Events of category ${id}`, 'petstore.CategoryChanged.v1'],
      ['categories/999', 'There are no events of category 999.', 'All events'],
    ] as const) {
      await goTo(page, 'Events')
      await page.getByLabel('Events of pet or category').fill(stream)
      await page.getByRole('button', { name: 'Show' }).click()
      await expectSays(page, title)
      await expectSays(page, said)
    }
    await goTo(page, 'Events')
    await page.getByLabel('only pet or category').fill(`categories/${id}`)
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('tbody tr').allInnerTexts(), patience).toHaveLength(2)
    expect(await violations(page)).toEqual([])
    expect(problems).toEqual([])
  })

  it('looks back from the latest events to the first, embedded', async () => {
    await lookBack({ DATA_DIR: temporaryFolder() })
  })

  it.each([
    ['Overview', 'published', 'Errors of process'],
    ['Pipeline', 'generations', 'Partition'],
  ])('shows the rest of a page where an answer is none that it knows: %s', async (name, path, rest) => {
    const { url } = await startService({ DATA_DIR: temporaryFolder() })
    const { page } = await openConsole(url, {}, (opened) =>
      opened.route(`**/console/api/${path}`, (route) => route.fulfill({ json: { generations: {} } })),
    )
    await signIn(page)
    await goTo(page, name)
    await expectSays(page, /This cannot be shown: /)
    await expectSays(page, rest)
  })

  it('shows events of any time, and where one cannot be read asks for it again', async () => {
    const DATA_DIR = temporaryFolder()
    const { url } = await startService({ DATA_DIR })
    const noText = { toString: 1, valueOf: 1 }
    const times = ['yesterday', '9999-12-31T23:59:59Z', '2020-02-29T12:00:00Z', 5, undefined, null, noText]
    const records = times.map((time, i) => {
      const { key, value } = petCreated({
        eventId: `any ${i}`,
        pet: { id: i + 1, name: `of time ${i}`, categoryId: 1, status: 'sold' },
      })
      return { key, value: JSON.stringify({ ...JSON.parse(value), time }) }
    })
    await appendToLog(DATA_DIR, records)
    let refusals = 2
    const refuse = { status: 503, json: { code: 'event_log_unavailable', message: 'It is away.', status: 503 } }
    const { page } = await openConsole(url, {}, (opened) =>
      opened.route(/console\/api\/events\?/, (route) => (refusals-- > 0 ? route.fulfill(refuse) : route.continue())),
    )
    await signIn(page)
    await goTo(page, 'Events')
    await expectSays(page, 'It is away. event_log_unavailable')
    await expectSays(page, 'The log begins here.')
    const shown = await page.locator('tbody tr').allInnerTexts()
    expect(shown).toHaveLength(times.length)
    for (const text of ['yesterday', /9999|10000/, '2020']) expect(shown.join('\n')).toMatch(text)
    expect(await page.locator('main').innerText()).not.toContain('It is away.')
    for (const id of times.keys()) {
      await page.goto(`${url}/console#/events/${id + 1}`)
      await expectSays(page, `"name": "of time ${id}"`)
    }
  })

  it('goes on at any address', async () => {
    const { url } = await startService({ DATA_DIR: temporaryFolder() })
    const { page, problems } = await openConsole(url)
    await page.goto(`${url}/console#/%E0`)
    await signIn(page)
    await expectSays(page, 'All well.')
    for (const [address, said] of [
      ['toString', 'All well.'],
      ['__proto__', 'All well.'],
      ['events/%E0%A4%A', 'a stream is named'],
      ['events/%00/7', 'a stream is named'],
      ['documents/%E0/%', 'petId must be an integer'],
      ['documents/nothing/abc', 'petId must be an integer'],
      ['parked/%', 'No event is parked.'],
      ['pipeline/%ff', 'Generations of the read models'],
    ] as const) {
      await page.goto(`${url}/console#/overview`)
      await expectSays(page, 'What happened')
      await page.goto(`${url}/console#/${address}`)
      await expectSays(page, said)
    }
    await goTo(page, 'Events')
    expect(problems.filter((problem) => !/status of 40[04]/.test(problem))).toEqual([])
  })

  it('follows a pet from its request to what is served, embedded', async () => {
    await followOnePet({ DATA_DIR: temporaryFolder() })
  })

  it('hides all within two seconds of a revocation', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const { url } = await startService(environment)
    const key = (await petstoreOutput(environment, 'keys', 'issue', '--name', 'me')).trim()
    const { page } = await openConsole(url)
    await signIn(page, key)
    await expectSays(page, 'All well.')
    await goTo(page, 'Pipeline')
    expect(await page.getByRole('button', { name: 'Rebuild the read models' }).isDisabled()).toBe(true) // no scope operate
    const [{ id }]: [{ id: string }] = await petstoreJson(environment, 'keys', 'list')
    await petstoreOutput(environment, 'keys', 'revoke', id, '--yes')
    await vi.waitFor(
      async () => {
        const text = await page.locator('body').innerText()
        expect(text).toContain('not valid, or not any more')
        expect(text).not.toContain('Partitions')
      },
      { timeout: 3000, interval: 50 },
    )
  })

  it('says that a key does not fit, and why', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const { url } = await startService(environment)
    const { page } = await openConsole(url)
    await signIn(page, 'no-such-key')
    await expectSays(page, 'not valid')
    const key = (await petstoreOutput(environment, 'keys', 'issue', '--name', 'writer', '--scopes', 'write')).trim()
    await signIn(page, key)
    await expectSays(page, 'This API key lacks the scope read.')
  })

  it('shows a sample of ten thousand events a second, and is used meanwhile', async () => {
    const DATA_DIR = temporaryFolder()
    const { url } = await startService({ DATA_DIR })
    const { page, problems } = await openConsole(url)
    await signIn(page)
    await goTo(page, 'Events')
    const log = openSqliteEventLog({ file: join(DATA_DIR, 'event-log.db') })
    let isOver = false
    const appending = (async () => {
      for (let id = 1; !isOver; id += 1000) {
        const records = Array.from(
          { length: 1000 },
          (_, i): Pet => ({ id: id + i, name: 'one of many', categoryId: 1, status: 'sold' }),
        )
        await log.append(
          0,
          records.map((pet) => ({ ...petCreated({ eventId: `many ${pet.id}`, pet }), headers: {} })),
        )
        await delay(100)
      }
    })()
    await expectSays(page, /A sample: [0-9,]+ more are not shown/)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Go on' }).click()
    await goTo(page, 'Overview')
    await goTo(page, 'Events')
    await expectSays(page, 'one of many')
    expect(await page.locator('tbody tr').count()).toBeLessThanOrEqual(200)
    isOver = true
    await appending
    await log.close()
    expect(problems).toEqual([])
  })

  it('outlives a restart of the service', async () => {
    const environment = { DATA_DIR: temporaryFolder() }
    const service = await startService(environment)
    const { page } = await openConsole(service.url)
    await signIn(page)
    await expectSays(page, 'All well.')
    await service.end('SIGKILL')
    await expectSays(page, 'The service does not answer.')
    await startService({ ...environment, PORT: new URL(service.url).port })
    await expectSays(page, 'All well.')
    const said = () => page.locator('main').innerText()
    await vi.waitFor(async () => expect(await said()).not.toContain('does not answer'), { timeout: 15_000 })
  })

  describeWithBrokers('on brokers', (brokers) => {
    it('follows a pet from its request to what is served, under load', async () => {
      await followOnePet({ ...brokerEnvironment(brokers), CONSOLE: 'true' }, 2)
    })

    it('looks back from the latest events of all partitions to the first', async () => {
      await lookBack({ ...brokerEnvironment(brokers), CONSOLE: 'true' })
    })

    it('rebuilds and discards under load, and sees both', async () => {
      const environment = { ...brokerEnvironment(brokers), CONSOLE: 'true' }
      const service = await startService(environment)
      const { url } = service
      const [pet] = (await createMany(new Client(service), 500)) as [Pet]
      const load = new Load([service], 2)
      const { page, problems } = await openConsole(url)
      await signIn(page)
      await goTo(page, 'Pipeline')
      const generation = () => page.locator('.way code').first().innerText()
      const before = await generation()
      await page.getByRole('button', { name: 'Rebuild the read models' }).click()
      await page.getByRole('button', { name: 'Rebuild', exact: true }).click()
      await expectSays(page, 'The new generation has taken over.')
      await expect.poll(generation, { timeout: 10_000 }).not.toBe(before)
      await page.getByRole('button', { name: 'Verify the read models' }).click()
      await expectSays(page, /compared, all as the log says/)

      await produce(environment, [
        petCreated({ eventId: 'usurper', pet: { ...pet, name: 'usurper' }, streamversion: 2 }),
      ])
      await goTo(page, 'Overview')
      await expectSays(page, '1 event is parked.')
      await goTo(page, 'Parked')
      await page.getByRole('button', { name: /^Look at/ }).click()
      const place = (await page.getByRole('dialog').getByRole('heading', { level: 2 }).innerText()).replace(
        'Parked event ',
        '',
      )
      await page.getByLabel(/^Reason/).fill('Another program made a mistake.')
      await page.getByLabel(/^Type/).fill(place)
      await page.getByRole('button', { name: 'Discard' }).click()
      await page.getByText('It is discarded.').waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      await goTo(page, 'Overview')
      await load.until(50)
      await load.stop()
      await expectSays(page, 'All well.')
      expect(problems).toEqual([])
    })

    it('names the process that projects and publishes, and says when there is none', async () => {
      const environment = { ...brokerEnvironment(brokers), CONSOLE: 'true' }
      const projector = await startService({ ...environment, ROLE: 'projector' })
      const { url } = await startService({ ...environment, ROLE: 'api' })
      const { page, problems } = await openConsole(url)
      await signIn(page)
      const published = page.getByRole('region', { name: 'Published' })
      await expect.poll(() => published.textContent(), { timeout: 30_000 }).toContain(`/${projector.pid}`)
      for (const topic of ['published', 'documents.pets', 'documents.orders', 'documents.categories'])
        expect(await published.textContent()).toContain(`${environment.KAFKA_TOPIC}.${topic}`)
      await goTo(page, 'Pipeline')
      await expectSays(page, `/${projector.pid} has 6 partitions`)
      await projector.end('SIGKILL')
      await expectSays(page, /\bnobody\b/)
      await goTo(page, 'Overview')
      await expect.poll(() => published.textContent(), { timeout: 30_000 }).toContain('nobody')
      expect(problems).toEqual([])
    })

    it('says at once that log or read models are away, and that they are back', async () => {
      const { kafka, redis, environment } = await startOwnBrokers()
      const { url } = await startService({ ...environment, CONSOLE: 'true' })
      const { page } = await openConsole(url)
      await signIn(page)
      await expectSays(page, 'All well.')
      for (const [broker, what] of [
        [redis, /read models do not answer/],
        [kafka, /event log does not answer/],
      ] as const) {
        await broker.kill()
        await expectSays(page, what)
        if (broker === kafka) await expect.poll(() => statusOf(url, 'published'), { timeout: 45_000 }).toBe(503)
        await broker.start()
        await expectSays(page, 'All well.')
      }
      await expectSays(page, 'all answers again')
    })
  })
})

/** The id in the JSON that an answer shows. */
function idIn(answer: string): string {
  const [, id = ''] = /"id": (\d+)/.exec(answer) ?? []
  expect(id, answer).not.toBe('')
  return id
}
