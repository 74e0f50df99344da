/** The scenario of README.md, by the client of @hey-api/openapi-ts. Its numbers are exact up to 2^53 - 1. */
import assert from 'node:assert/strict'
import { createPet, getPet, listPetEvents, listPets, placeOrder } from './client'
import { createClient } from './client/client'

const largest = Number.MAX_SAFE_INTEGER

function open(auth: string) {
  return createClient({ baseUrl: `${process.env.PETSTORE_URL}/v1`, auth })
}

async function run() {
  const client = open(process.env.PETSTORE_KEY ?? '')

  const { data: rex } = await createPet({ client, body: { name: ' Rex', categoryId: largest } })
  assert(rex && rex.name === ' Rex' && rex.categoryId === largest)
  const { data: ada } = await createPet({ client, body: { name: 'Ada', categoryId: -largest } })
  assert(ada)

  const query = { limit: 1, status: 'available' } as const
  const { data: [one, ...more] = [], response } = await listPets({ client, query })
  const [, cursor = ''] = /cursor=([\w-]+)/.exec(response?.headers.get('link') ?? '') ?? []
  const { data: [next] = [] } = await listPets({ client, query: { ...query, cursor } })
  assert(one && next && more.length === 0 && one.id < next.id && next.id <= ada.id)

  assert.deepEqual((await getPet({ client, path: { petId: rex.id } })).data, rex)
  const absent = await getPet({ client, path: { petId: largest } })
  assert.deepEqual([absent.response?.status, absent.error?.code], [404, 'pet_not_found'])

  const { data: order } = await placeOrder({ client, body: { petId: rex.id } })
  assert(order && order.petId === rex.id && order.status === 'placed')
  const taken = await placeOrder({ client, body: { petId: rex.id } })
  assert.deepEqual([taken.response?.status, taken.error?.code], [409, 'pet_not_available'])

  const { data: [created, placed] = [] } = await listPetEvents({ client, path: { petId: rex.id } })
  assert(created?.type === 'petstore.PetCreated.v1' && created.streamversion === 1)
  assert.deepEqual(created.data, rex)
  assert(placed?.type === 'petstore.OrderPlaced.v1' && placed.data.orderId === order.id && placed.streamversion === 2)

  const stranger = await listPets({ client: open('nobody') })
  assert.deepEqual([stranger.response?.status, stranger.error?.code], [401, 'unauthorized'])
}

void run()
