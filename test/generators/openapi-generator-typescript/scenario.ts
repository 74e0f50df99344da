/** The scenario of README.md, by the client of openapi-generator for fetch. Its numbers are exact up to 2^53 - 1. */
import assert from 'node:assert/strict'
import { AnimalsApi, Configuration, EventsApi, ResponseError, StoreApi } from './client'

const largest = Number.MAX_SAFE_INTEGER

function open(accessToken: string) {
  const configuration = new Configuration({ basePath: `${process.env.PETSTORE_URL}/v1`, accessToken })
  return {
    animals: new AnimalsApi(configuration),
    store: new StoreApi(configuration),
    events: new EventsApi(configuration),
  }
}

async function refused(status: number, code: string, answer: Promise<unknown>) {
  const error = await answer.catch((error: unknown) => error)
  assert(error instanceof ResponseError)
  assert.deepEqual([error.response.status, (await error.response.json()).code], [status, code])
}

async function run() {
  const { animals, store, events } = open(process.env.PETSTORE_KEY ?? '')

  const rex = await animals.createPet({ petInput: { name: ' Rex', categoryId: largest } })
  assert.deepEqual([rex.name, rex.categoryId], [' Rex', largest])
  const ada = await animals.createPet({ petInput: { name: 'Ada', categoryId: -largest } })

  const first = await animals.listPetsRaw({ limit: 1, status: 'available' })
  const [, cursor = ''] = /cursor=([\w-]+)/.exec(first.raw.headers.get('link') ?? '') ?? []
  const [one, ...more] = await first.value()
  const [next] = await animals.listPets({ limit: 1, status: 'available', cursor })
  assert(one && next && more.length === 0 && one.id < next.id && next.id <= ada.id)

  assert.deepEqual(await animals.getPet({ petId: rex.id }), rex)
  await refused(404, 'pet_not_found', animals.getPet({ petId: largest }))

  const order = await store.placeOrder({ orderInput: { petId: rex.id } })
  assert.deepEqual([order.petId, order.status], [rex.id, 'placed'])
  await refused(409, 'pet_not_available', store.placeOrder({ orderInput: { petId: rex.id } }))

  const [created, placed] = await events.listPetEvents({ petId: rex.id })
  assert(created?.type === 'petstore.PetCreated.v1' && created.streamversion === 1)
  assert.deepEqual(created.data, rex)
  assert(placed?.type === 'petstore.OrderPlaced.v1' && placed.data.orderId === order.id && placed.streamversion === 2)

  await refused(401, 'unauthorized', open('nobody').animals.listPets())
}

void run()
