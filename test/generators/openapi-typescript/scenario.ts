/** The scenario of README.md, by openapi-fetch with the types of openapi-typescript; petstore.ts is that of the examples. */
import assert from 'node:assert/strict'
import { openPetstore } from './petstore.ts'

const largest = 9223372036854775807n
const nobody = 9007199254740991n
const { PETSTORE_URL: url = '', PETSTORE_KEY: apiKey = '' } = process.env
const petstore = openPetstore({ url, apiKey })

const { data: rex } = await petstore.POST('/pets', { body: { name: ' Rex', categoryId: largest } })
assert(rex?.name === ' Rex' && rex.categoryId === largest)
const { data: ada } = await petstore.POST('/pets', { body: { name: 'Ada', categoryId: -largest - 1n } })
assert(ada)

const query = { limit: 1, status: 'available' } as const
const { data: [first] = [], response } = await petstore.GET('/pets', { params: { query } })
const [, cursor = ''] = /cursor=([\w-]+)/.exec(response.headers.get('link') ?? '') ?? []
const { data: [second] = [] } = await petstore.GET('/pets', { params: { query: { ...query, cursor } } })
assert(first && second && first.id < second.id && second.id <= ada.id)

const { data: same } = await petstore.GET('/pets/{petId}', { params: { path: { petId: rex.id } } })
assert.deepEqual(same, rex)
const absent = await petstore.GET('/pets/{petId}', { params: { path: { petId: nobody } } })
assert.deepEqual([absent.response.status, absent.error?.code], [404, 'pet_not_found'])

const { data: order } = await petstore.POST('/store/orders', { body: { petId: rex.id } })
assert(order?.petId === rex.id && order.status === 'placed')
const taken = await petstore.POST('/store/orders', { body: { petId: rex.id } })
assert.deepEqual([taken.response.status, taken.error?.code], [409, 'pet_not_available'])

const { data: [created, placed] = [] } = await petstore.GET('/pets/{petId}/events', {
  params: { path: { petId: rex.id } },
})
assert(created?.type === 'petstore.PetCreated.v1' && created.streamversion === 1n)
assert.deepEqual(created.data, rex)
assert(placed?.type === 'petstore.OrderPlaced.v1' && placed.data.orderId === order.id && placed.streamversion === 2n)

const stranger = await openPetstore({ url, apiKey: 'nobody' }).GET('/pets')
assert.deepEqual([stranger.response.status, stranger.error?.code], [401, 'unauthorized'])
