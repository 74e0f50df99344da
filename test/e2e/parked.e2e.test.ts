import { expect, it, vi } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { Client, codeOf, type Pet } from './client.ts'
import { createMany } from './log-served.ts'
import { expectVerified, petstore } from './petstore.ts'
import { brokerEnvironment, startService } from './service-process.ts'
import { petCreated, produce } from './topic.ts'

const patience = { timeout: 30_000, interval: 100 }
const timeout = 180_000

interface Parked {
  readonly partition: number
  readonly offset: number
  readonly subject: string
  readonly reason: string
  readonly value: string
}

describeWithBrokers('events that cannot be applied', (brokers) => {
  it('are parked, looked at, and discarded; then what waited behind them is applied', { timeout }, async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const [pet] = (await createMany(client, 10)) as [Pet]
    const usurper = petCreated({ eventId: 'usurper', pet: { ...pet, name: 'usurper' } })
    const late: Pet = { id: 5_000_001, name: 'late', categoryId: 1, status: 'sold' }
    const fromTheFuture = ofVersion9({ eventId: 'future', pet: late })
    const behind = petCreated({ eventId: 'behind', pet: late })
    const later = petCreated({ eventId: 'later', pet: { ...late, name: 'later' } })
    await produce(environment, [usurper, fromTheFuture])
    await produce(environment, [behind])
    await produce(environment, [later])
    const command = (...args: string[]) => petstore(environment, 'parked', ...args)
    const listed = async () => JSON.parse((await command('list', '--json')).output) as Parked[]
    const parked = await vi.waitFor(async () => {
      const found = await listed()
      expect(found).toHaveLength(4)
      return found
    }, patience)
    const named = (value: string) => parked.find((each) => each.value === value) as Parked
    expect(named(usurper.value)).toMatchObject({
      subject: String(pet.id),
      reason: expect.stringMatching(/another event id/),
    })
    expect(named(fromTheFuture.value)).toMatchObject({
      subject: '5000001',
      reason: 'version 9 of PetCreated is not known',
    })
    for (const { value } of [behind, later]) {
      expect(named(value)).toMatchObject({ subject: '5000001', reason: 'an earlier event of this subject is parked' })
    }
    expect((await client.get(pet.id)).body).toEqual(pet)
    expect(codeOf(await client.get(late.id))).toBe('pet_not_found')
    await expectVerified(environment)

    const [first, second] = [placeOf(named(usurper.value)), placeOf(named(fromTheFuture.value))]
    const table = (await command('list')).output.trimEnd().split('\n')
    expect(table).toHaveLength(5)
    expect(table[0]).toMatch(/^EVENT +SUBJECT +REASON$/)
    expect(table).toContainEqual(expect.stringMatching(new RegExp(`^${second} +5000001 +version 9`)))
    const shown = await command('show', first)
    expect(shown.output.split('\n')).toEqual([
      `event    ${first}`,
      `subject  ${pet.id}`,
      `reason   id ${pet.id} exists under another event id`,
      usurper.value,
      '',
    ])
    expect(JSON.parse((await command('show', first, '--json')).output)).toEqual(named(usurper.value))
    const missing = await command('show', '0/999999')
    expect(missing).toMatchObject({ code: 1, output: '', errors: expect.stringContaining('parked list') })

    expect(await command('discard', first)).toMatchObject({ code: 0, output: expect.stringContaining(first) })
    expect((await command('discard', first)).code).toBe(1)
    const discarded = await command('discard', second, '--json')
    expect(discarded.code, discarded.errors).toBe(0)
    expect(JSON.parse(discarded.output)).toEqual({ discarded: second })
    await vi.waitFor(async () => expect((await client.get(late.id)).body).toEqual(late), patience)
    expect((await client.get(pet.id)).body).toEqual(pet)
    const left = [expect.objectContaining({ value: later.value, reason: 'id 5000001 exists under another event id' })]
    expect(await listed()).toEqual(left)
    await expectVerified(environment)

    const rebuilt = await petstore(environment, 'rebuild', '--json')
    expect(rebuilt.code, rebuilt.errors).toBe(0)
    expect(JSON.parse(rebuilt.output)).toEqual({ outcome: 'activated' })
    expect(await listed()).toEqual(left)
    await vi.waitFor(async () => expect(await client.list()).toContainEqual(late), patience)
    await expectVerified(environment)
    expect((await command('discard', placeOf((await listed())[0] as Parked))).code).toBe(0)
    expect((await command('list')).output).toBe('No event is parked.\n')
  })

  it('a POST whose id another producer has taken does not say 201', { timeout }, async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const taken = Array.from({ length: 60 }, (_, i) => ({
      id: i + 1,
      name: `taken ${i}`,
      categoryId: 1,
      status: 'sold',
    }))
    await produce(
      environment,
      taken.map((pet) => petCreated({ eventId: `taken ${pet.id}`, pet })),
    )
    await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toEqual(taken), patience)
    for (let i = 0; i < 2; i++) {
      const answer = await client.post({ name: 'late', categoryId: 1 }, { 'idempotency-key': '"late"' })
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 500, code: 'event_parked' })
    }
    const plain = await client.post({ name: 'late', categoryId: 1 })
    expect({ status: plain.status, code: codeOf(plain) }).toEqual({ status: 500, code: 'event_parked' })
    expect(await client.list({ limit: 100 })).toEqual(taken)
    await expectVerified(environment)
  })
})

function placeOf({ partition, offset }: Parked): string {
  return `${partition}/${offset}`
}

function ofVersion9(event: Parameters<typeof petCreated>[0]): { key: string; value: string } {
  const { key, value } = petCreated(event)
  return { key, value: value.replace('PetCreated.v1', 'PetCreated.v9') }
}
