import { describe, expect, it } from 'vitest'
import { openInMemory } from '../../src/engine/testing/index.ts'
import { store } from '../../src/store/service.ts'

const rex = { id: 1, name: 'Rex', categoryId: 7, status: 'available' }

/** A store with one pet. */
async function open() {
  const shop = await openInMemory(store)
  const patch = (body: object) => shop.run('updatePet', { id: 1, body })
  expect((await shop.run('createPet', { body: { ...rex, id: undefined } })).body).toEqual(rex)
  const types = async () => {
    const { body } = await shop.run('listPetEvents', { id: 1 })
    return (body as { type: string }[]).map(({ type }) => type)
  }
  return { ...shop, patch, types }
}

describe('PATCH of a pet', () => {
  it('changes what it has, each digit and character of it', async () => {
    await using shop = await open()
    expect((await shop.patch({ name: 'Max' })).body).toEqual({ ...rex, name: 'Max' })
    const change = { name: 'Zoë', categoryId: -(2n ** 63n) }
    expect((await shop.patch(change)).body).toEqual({ ...rex, ...change })
    expect(await shop.find('pets', 1)).toEqual({ ...rex, ...change })
  })

  it('describes a pet, and takes the description away with null', async () => {
    await using shop = await open()
    const description = 'Likes children'
    expect((await shop.patch({ description })).body).toEqual({ ...rex, description })
    for (const _ of ['once', 'again']) expect((await shop.patch({ description: null })).body).toEqual(rex)
    expect(await shop.types()).toEqual(['petstore.PetCreated.v1', 'petstore.PetChanged.v2', 'petstore.PetChanged.v1'])
  })

  it('is 400 of what cannot be, and says why', async () => {
    await using shop = await open()
    for (const [body, message] of [
      [{}, 'the value must have at least one member'],
      [{ name: null }, 'name must be string'],
      [{ name: ' ' }, 'name must be 1 to 128 characters'],
      [
        { description: ' ' },
        'description must be 1 to 500 characters of well-formed Unicode, not only white space; or null',
      ],
      [{ description: 7 }, 'description must be string'],
      [{ categoryId: null }, 'categoryId must be an integer'],
      [{ categoryId: 2n ** 63n }, 'categoryId must be an integer'],
      [{ name: 'Max', kind: 'dog' }, '"kind" is not allowed here'],
      [{ status: 'sold' }, '"status" is not allowed here: it changes with the orders of the pet'],
      [{ id: 1 }, '"id" is not allowed here: it never changes'],
    ] as const) {
      const refused = { code: 'invalid_request', message: expect.stringContaining(`body: ${message}`) }
      expect(await shop.patch(body)).toMatchObject({ status: 400, body: refused })
    }
    expect(await shop.types()).toEqual(['petstore.PetCreated.v1'])
  })
})

describe('DELETE of a pet', () => {
  it('is refused while an order is open, and leaves a final one readable', async () => {
    await using shop = await open()
    const remove = () => shop.run('removePet', { id: 1 })
    const cancel = () => shop.run('updateOrder', { id: 2, body: { status: 'cancelled' } })
    await shop.run('placeOrder', { body: { petId: 1 } })
    const refused = { code: 'pet_is_ordered', message: expect.stringContaining('order 2 holds it') }
    expect(await remove()).toMatchObject({ status: 409, body: refused })
    await cancel()
    expect((await remove()).status).toBe(204)
    expect(await shop.find('orders', 2)).toMatchObject({ petId: 1, status: 'cancelled' })
    expect((await cancel()).status).toBe(200)
  })
})
