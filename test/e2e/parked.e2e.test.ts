import { userInfo } from 'node:os'
import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { metric } from '../lib/http-client.ts'
import { shared } from '../lib/when-done.ts'
import { Client, codeOf, createMany, type Pet } from './client.ts'
import {
  brokerEnvironment,
  expectVerified,
  type ParkedEvent,
  petstore,
  petstoreJson,
  petstoreOutput,
  placeOf,
  startService,
} from './service.ts'
import { petCreated, produce } from './topic.ts'

const patience = { timeout: 30_000, interval: 100 }

describeWithBrokers('events that cannot be applied', (brokers) => {
  const started = shared(async () => {
    const environment = brokerEnvironment(brokers)
    const service = await startService(environment)
    return { environment, service, client: new Client(service) }
  })

  it('are parked, looked at, and discarded; then what waited behind them is applied', async () => {
    const { environment, service, client } = started()
    const [pet] = (await createMany(client, 10)) as [Pet]
    const usurper = petCreated({ eventId: 'usurper', pet: { ...pet, name: 'usurper' }, streamversion: 2 })
    const late: Pet = { id: 5_000_001, name: 'late', categoryId: 1, status: 'sold' }
    const fromTheFuture = petCreated({ eventId: 'future', pet: late, streamversion: 1, typeVersion: 9 })
    const behind = petCreated({ eventId: 'behind', pet: late, streamversion: 2 })
    const later = petCreated({ eventId: 'later', pet: { ...late, name: 'later' }, streamversion: 3 })
    for (const each of [[usurper, fromTheFuture], [behind], [later]]) await produce(environment, each)
    const command = (...args: string[]) => petstore(environment, 'parked', ...args)
    await vi.waitFor(async () => expect(await metric(service.url, 'petstore_parked_events')).toBe(4), patience)
    const parked: ParkedEvent[] = await petstoreJson(environment, 'parked', 'list')
    const named = ({ value }: { value: string }) => parked.find((each) => each.value === value) as ParkedEvent
    const taken = expect.stringMatching(/exists already/)
    expect(named(usurper)).toMatchObject({ stream: String(pet.id), reason: taken })
    const unknown = 'type petstore.PetCreated.v9 is unknown'
    expect(named(fromTheFuture)).toMatchObject({ stream: '5000001', reason: unknown })
    for (const each of [behind, later]) {
      const reason = 'an earlier event of this stream is parked'
      expect(named(each)).toMatchObject({ stream: '5000001', reason })
    }
    expect((await client.get(pet.id)).body).toEqual(pet)
    expect(codeOf(await client.get(late.id))).toBe('pet_not_found')
    await expectVerified(environment)

    const [first, second] = [placeOf(named(usurper)), placeOf(named(fromTheFuture))]
    const unknownPet = expect.stringMatching(/^pet 4711: nothing took effect yet\n/)
    const ofPet = await petstoreOutput(environment, 'streams', String(pet.id))
    const rows = String.raw`EVENT .*\n.* applied\n${first} .* parked\n`
    expect(ofPet).toMatch(new RegExp(`^pet ${pet.id}: version 1; parked at ${first}, with 0 behind it: .*\n\n${rows}$`))
    expect(await petstoreJson(environment, 'streams', '5000001')).toEqual({
      ...{ stream: '5000001', version: 0, isRemoved: false },
      parked: { partition: expect.any(Number), offset: named(fromTheFuture).offset, waiting: 2, reason: unknown },
      events: [fromTheFuture, behind, later].map(({ value }) =>
        expect.objectContaining({ outcome: 'parked', event: JSON.parse(value) }),
      ),
    })
    expect(await petstore(environment, 'streams', '4711')).toMatchObject({ code: 1, output: unknownPet })
    expect((await command('list')).output).toMatch(
      new RegExp(`^EVENT +STREAM +REASON\n(.*\n)*${second} +5000001 +type`),
    )
    expect((await command('show', first)).output).toContain(`\nreason   ${named(usurper).reason}\n${usurper.value}\n`)
    expect(await petstoreJson(environment, 'parked', 'show', first)).toEqual(named(usurper))
    const missing = await command('show', '0/999999')
    expect(missing).toMatchObject({ code: 1, output: '', errors: expect.stringContaining('list of parked events') })

    const audited = expect.stringMatching(
      new RegExp(`"audit":"event discarded","event":"${first}",.*"actor":"${userInfo().username}"`),
    )
    const done = { code: 0, output: expect.stringContaining(first), errors: audited }
    expect(await command('discard', first, '--yes')).toMatchObject(done)
    const { partition, stream } = named(usurper)
    const effect = `"audit":"event discarded","event":"${first}","stream":"${stream}","decision":"${partition}/`
    await vi.waitFor(() => expect(service.output()).toContain(effect), patience)
    expect((await command('discard', first, '--yes')).code).toBe(1)
    for (const middle of [behind, later]) {
      const errors = expect.stringContaining('discard that one first')
      expect(await command('discard', placeOf(named(middle)), '--yes')).toMatchObject({ code: 1, errors })
    }
    expect(await petstoreJson(environment, 'parked', 'discard', second, '--yes')).toEqual({ discarded: second })
    await vi.waitFor(async () => expect((await client.get(late.id)).body).toEqual(late), patience)
    expect((await client.get(pet.id)).body).toEqual(pet)
    const left = [expect.objectContaining({ value: later.value, reason: taken })]
    expect(await petstoreJson(environment, 'parked', 'list')).toEqual(left)

    expect(await petstoreJson(environment, 'rebuild')).toEqual({ outcome: 'activated' })
    expect(await petstoreJson(environment, 'parked', 'list')).toEqual(left)
    await vi.waitFor(async () => expect(await client.list()).toContainEqual(late), patience)
    await expectVerified(environment)
    await petstoreOutput(environment, 'parked', 'discard', placeOf(named(later)), '--yes')
    expect(await petstoreOutput(environment, 'parked', 'list')).toBe('No event is parked.\n')
  })
})
