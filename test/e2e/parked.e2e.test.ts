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
  readonly stream: string
  readonly reason: string
  readonly value: string
}

describeWithBrokers('events that cannot be applied', (brokers) => {
  it('are parked, looked at, and discarded; then what waited behind them is applied', { timeout }, async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const [pet] = (await createMany(client, 10)) as [Pet]
    const usurper = petCreated({ eventId: 'usurper', pet: { ...pet, name: 'usurper' }, streamversion: 2 })
    const late: Pet = { id: 5_000_001, name: 'late', categoryId: 1, status: 'sold' }
    const fromTheFuture = ofVersion9({ eventId: 'future', pet: late, streamversion: 1 })
    const behind = petCreated({ eventId: 'behind', pet: late, streamversion: 2 })
    const later = petCreated({ eventId: 'later', pet: { ...late, name: 'later' }, streamversion: 3 })
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
      stream: String(pet.id),
      reason: expect.stringMatching(/exists already/),
    })
    expect(named(fromTheFuture.value)).toMatchObject({
      stream: '5000001',
      reason: 'type petstore.PetCreated.v9 is not known',
    })
    for (const { value } of [behind, later]) {
      expect(named(value)).toMatchObject({ stream: '5000001', reason: 'an earlier event of this stream is parked' })
    }
    expect((await client.get(pet.id)).body).toEqual(pet)
    expect(codeOf(await client.get(late.id))).toBe('pet_not_found')
    await expectVerified(environment)

    const [first, second] = [placeOf(named(usurper.value)), placeOf(named(fromTheFuture.value))]
    const table = (await command('list')).output.trimEnd().split('\n')
    expect(table).toHaveLength(5)
    expect(table[0]).toMatch(/^EVENT +STREAM +REASON$/)
    expect(table).toContainEqual(expect.stringMatching(new RegExp(`^${second} +5000001 +type petstore`)))
    const shown = await command('show', first)
    expect(shown.output.split('\n')).toEqual([
      `event    ${first}`,
      `stream   ${pet.id}`,
      `reason   ${named(usurper.value).reason}`,
      usurper.value,
      '',
    ])
    expect(JSON.parse((await command('show', first, '--json')).output)).toEqual(named(usurper.value))
    const missing = await command('show', '0/999999')
    expect(missing).toMatchObject({ code: 1, output: '', errors: expect.stringContaining('parked list') })

    const middle = await command('discard', placeOf(named(behind.value)))
    expect(middle).toMatchObject({ code: 1, errors: expect.stringContaining(`discard that one first`) })
    expect(await command('discard', first)).toMatchObject({ code: 0, output: expect.stringContaining(first) })
    expect((await command('discard', first)).code).toBe(1)
    const discarded = await command('discard', second, '--json')
    expect(discarded.code, discarded.errors).toBe(0)
    expect(JSON.parse(discarded.output)).toEqual({ discarded: second })
    await vi.waitFor(async () => expect((await client.get(late.id)).body).toEqual(late), patience)
    expect((await client.get(pet.id)).body).toEqual(pet)
    const left = [expect.objectContaining({ value: later.value, reason: expect.stringMatching(/exists already/) })]
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

  it('a POST whose id another producer has taken gets another one', { timeout }, async () => {
    const environment = brokerEnvironment(brokers)
    const client = new Client(await startService(environment))
    const taken = Array.from({ length: 30 }, (_, i) => ({
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
    const late = await client.post({ name: 'late', categoryId: 1 }, { 'idempotency-key': '"late"' })
    const again = await client.post({ name: 'late', categoryId: 1 }, { 'idempotency-key': '"late"' })
    const plain = await client.post({ name: 'plain', categoryId: 1 }, { prefer: 'wait=10' })
    for (const { status, body } of [late, plain]) {
      expect(status, JSON.stringify(body)).toBe(201)
      expect((body as Pet).id).toBeGreaterThan(taken.length)
    }
    expect(again.body).toEqual(late.body)
    await vi.waitFor(async () => expect(await client.list({ limit: 100 })).toHaveLength(taken.length + 2), patience)
    expect(await client.list({ status: 'sold', limit: 100 })).toEqual(taken)
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
