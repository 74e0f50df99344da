import { expect, it } from 'vitest'
import { openInMemory } from '../../src/engine/testing/index.ts'
import { store } from '../../src/store/service.ts'

it('pets are found and counted by category and status, where they are now', async () => {
  await using shop = await openInMemory(store)
  for (const categoryId of [7, 7, 8]) await shop.run('createPet', { body: { name: 'Rex', categoryId } })
  const idsOf = async (operationId: string, query: Record<string, string>) => {
    const { body } = await shop.run(operationId, { query })
    return (body as { id: number }[]).map(({ id }) => id)
  }
  const stock = async (query?: Record<string, string>) => (await shop.run('getInventory', query && { query })).body
  expect(await stock()).toEqual({ available: 3, pending: 0, sold: 0 })
  await shop.run('placeOrder', { body: { petId: 1 } })
  await shop.run('updatePet', { id: 2, body: { categoryId: 8 } })
  expect(await idsOf('listPets', { categoryId: '7' })).toEqual([1])
  expect(await idsOf('listPets', { categoryId: '8', status: 'available' })).toEqual([2, 3])
  expect(await idsOf('listPets', { categoryId: '8', status: 'pending' })).toEqual([])
  expect(await idsOf('listOrders', { petId: '1', status: 'placed' })).toEqual([4])
  expect(await stock({ categoryId: '7' })).toEqual({ available: 0, pending: 1, sold: 0 })
  expect(await stock()).toEqual({ available: 2, pending: 1, sold: 0 })
})
