/** Shows the client at work: PETSTORE_URL=http://127.0.0.1:3000 PETSTORE_KEY=… */
import { randomUUID } from 'node:crypto'
import { allPets, openPetstore, PetstoreError, send } from './petstore.ts'

const { PETSTORE_URL: url = 'http://127.0.0.1:3000', PETSTORE_KEY: apiKey = '' } = process.env
const petstore = openPetstore({ url, apiKey })
const say = (line: string) => process.stdout.write(`${line}\n`)

// Add a pet. Under one Idempotency-Key there is one pet, so the request can be sent again if its answer is lost.
const newPet = { name: 'Rex', categoryId: 9223372036854775807n }
const header = { 'Idempotency-Key': `"${randomUUID()}"` }
const { data: rex } = await send(() => petstore.POST('/pets', { params: { header }, body: newPet }))
const { data: same, response } = await send(() => petstore.POST('/pets', { params: { header }, body: newPet }))
say(`added pet ${rex.id} of category ${rex.categoryId}`)
say(`sent again: pet ${same.id}, Idempotency-Replayed: ${response.headers.get('idempotency-replayed')}`)

// Hand on the Consistency-Token: whoever reads with it sees the pet, on any instance.
const token = response.headers.get('consistency-token') ?? ''
const reading = { params: { path: { petId: rex.id }, header: { 'Consistency-Token': token } } }
const { data: read } = await send(() => petstore.GET('/pets/{petId}', reading))
say(`read with a Consistency-Token: ${read.name} is ${read.status}`)

// Follow the links from page to page.
let count = 0
for await (const pet of allPets(petstore, { status: 'available', limit: 1 })) {
  say(`page ${++count}: pet ${pet.id}`)
  if (count === 2) break
}

// Find the pets of a category, those of it that are available, and how many there are of each status.
const { categoryId } = rex
const reader = { header: { 'Consistency-Token': token } }
const { data: listed } = await send(() =>
  petstore.GET('/pets', { params: { ...reader, query: { categoryId, status: 'available' } } }),
)
const { data: inventory } = await send(() =>
  petstore.GET('/store/inventory', { params: { ...reader, query: { categoryId } } }),
)
say(`category ${categoryId}: ${listed.length} available, and the inventory says ${inventory.available}`)

// Order Rex. Nobody else can, and the code of the error says why.
const order = await send(() =>
  petstore.POST('/store/orders', {
    params: { header: { 'Idempotency-Key': `"${randomUUID()}"` } },
    body: { petId: rex.id },
  }),
)
const { id: orderId } = order.data
say(`order ${orderId} is ${order.data.status}`)
await refused('another order of the pet', () =>
  petstore.POST('/store/orders', {
    params: { header: { 'Idempotency-Key': `"${randomUUID()}"` } },
    body: { petId: rex.id },
  }),
)

// Approve it only if it is still as it was seen.
const seen = { 'If-Match': order.response.headers.get('etag') ?? '' }
const change = (status: 'approved' | 'delivered' | 'cancelled', header: { 'If-Match'?: string } = {}) =>
  petstore.PATCH('/store/orders/{orderId}', { params: { path: { orderId }, header }, body: { status } })
await send(() => change('approved', seen))
await refused('cancelling it as it was seen before', () => change('cancelled', seen))
const { data: delivered } = await send(() => change('delivered'))
say(`order ${orderId} is ${delivered.status}`)
const ordersOfRex = { params: { query: { petId: rex.id, status: 'delivered' } } } as const
const { data: orders } = await send(() => petstore.GET('/store/orders', ordersOfRex))
say(`orders of pet ${rex.id} that are delivered: ${orders.length}`)

// Say what a category is, and move Rex to it. When it is removed, Rex keeps its id.
const { data: dogs } = await send(() =>
  petstore.POST('/categories', {
    params: { header: { 'Idempotency-Key': `"${randomUUID()}"` } },
    body: { name: 'Dogs', description: 'They like walks' },
  }),
)
const ofRex = { params: { path: { petId: rex.id } } }
await send(() => petstore.PATCH('/pets/{petId}', { ...ofRex, body: { categoryId: dogs.id } }))
const ofDogs = { params: { path: { categoryId: dogs.id } } }
const { data: changed } = await send(() =>
  petstore.PATCH('/categories/{categoryId}', { ...ofDogs, body: { description: null } }),
)
say(`category ${changed.id} is ${changed.name}, described: ${changed.description !== undefined}`)
await send(() => petstore.DELETE('/categories/{categoryId}', ofDogs))
const { data: kept } = await send(() => petstore.GET('/pets/{petId}', ofRex))
say(`the category is gone, and pet ${kept.id} is of it still: ${kept.categoryId === dogs.id}`)

async function refused(what: string, request: Parameters<typeof send>[0]): Promise<void> {
  try {
    await send(request)
  } catch (error) {
    if (!(error instanceof PetstoreError)) throw error
    say(`${what} is refused: ${error.status} ${error.code}`)
  }
}
