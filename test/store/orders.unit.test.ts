import { expect, it } from 'vitest'
import { openInMemory } from '../../src/engine/testing/index.ts'
import { store } from '../../src/store/service.ts'

const rex = { name: 'Rex', categoryId: 7, status: 'available' }

it('placing an order answers with it, and takes the pet', async () => {
  await using shop = await openInMemory(store)
  await shop.run('createPet', { body: rex })
  const at = expect.stringMatching(/^\d{4}-.*Z$/)
  const order = { id: 2, petId: 1, status: 'placed', placedAt: at, updatedAt: at }
  expect(await shop.run('placeOrder', { body: { petId: 1 } })).toMatchObject({ status: 201, body: order })
  expect([await shop.find('orders', 2), await shop.find('pets', 1)]).toEqual([
    order,
    { id: 1, ...rex, status: 'pending' },
  ])
  const refused = { code: 'pet_not_available', message: 'Pet 1 is pending: order 2 holds it.' }
  expect(await shop.run('placeOrder', { body: { petId: 1 } })).toMatchObject({ status: 409, body: refused })
})

it('an order of a pet that never was is 422, whatever its id', async () => {
  await using shop = await openInMemory(store)
  await shop.run('createPet', { body: rex })
  for (const petId of [2, 0, -1, 9007199254740992n, 9007199254740993n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    const refused = { code: 'unknown_pet', message: `There is no pet ${petId}.` }
    expect(await shop.run('placeOrder', { body: { petId } })).toMatchObject({ status: 422, body: refused })
  }
})
