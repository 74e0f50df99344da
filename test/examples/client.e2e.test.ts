import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { allPets, openPetstore, send } from '../../examples/client/petstore.ts'
import { apiKey, Client } from '../e2e/client.ts'
import { startProgram, startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

const largest = 9223372036854775807n

it('the tour of the generated client shows what it says', async () => {
  const { url } = await startService({ DATA_DIR: temporaryFolder() })
  const tour = startProgram('../../examples/client/tour.ts', { PETSTORE_URL: url, PETSTORE_KEY: apiKey })
  expect(await tour.ended, tour.errors()).toBe(0)
  const lines = tour.output().replaceAll(/\b(pet|order|category) \d{1,9}\b/g, '$1 N')
  expect(lines.trimEnd().split('\n')).toEqual([
    'added pet N of category 9223372036854775807',
    'sent again: pet N, Idempotency-Replayed: true',
    'read with a Consistency-Token: Rex is available',
    'page 1: pet N',
    'category 9223372036854775807: 1 available, and the inventory says 1',
    'order N is placed',
    'another order of the pet is refused: 409 pet_not_available',
    'cancelling it as it was seen before is refused: 412 precondition_failed',
    'order N is delivered',
    'orders of pet N that are delivered: 1',
    'category N is Dogs, described: false',
    'the category is gone, and pet N is of it still: true',
  ])
  const refused = startProgram('../../examples/client/tour.ts', { PETSTORE_URL: url, PETSTORE_KEY: 'another' })
  expect(await refused.ended).toBe(1)
  expect(refused.errors()).toContain('unauthorized')
})

it('the generated client makes one pet though answers are lost, and reads every page, digit for digit', async () => {
  const { url } = await startService({ DATA_DIR: temporaryFolder() })
  let sent = 0
  async function losing(request: Request): Promise<Response> {
    const answer = await fetch(request)
    if (sent++ % 2 === 0) throw new TypeError('fetch failed: the answer is lost')
    return answer
  }
  const petstore = openPetstore({ url, apiKey, fetch: losing })
  const categories = [largest, -largest - 1n]
  for (const categoryId of categories) {
    const header = { 'Idempotency-Key': `"${randomUUID()}"` }
    const { data } = await send(() =>
      petstore.POST('/pets', { params: { header }, body: { name: 'Zoë 🐕', categoryId } }),
    )
    expect(data).toEqual({ id: expect.any(BigInt), name: 'Zoë 🐕', categoryId, status: 'available' })
  }
  expect(sent).toBe(2 * categories.length)
  const pets = await Array.fromAsync(allPets(petstore, { status: 'available', limit: 1 }))
  expect(pets.map(({ categoryId }) => categoryId)).toEqual(categories)
  for (const categoryId of categories)
    expect(await Array.fromAsync(allPets(petstore, { categoryId, limit: 1 }))).toEqual([
      expect.objectContaining({ categoryId }),
    ])
  expect((await new Client({ url }).list()).length).toBe(categories.length)
})
