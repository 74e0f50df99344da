/** The collections that clients can ask for, of every service that is judged. */
export type Shown = 'pets' | 'orders' | 'categories' | 'books' | 'loans' | 'reservations'

/** What is asked. `create` begins a stream; `place` adds a document to the stream of another one. */
type Kind = 'create' | 'place' | 'update' | 'remove' | 'get' | 'list' | 'history' | 'feed'

const operations = {
  createPet: ['create', 'pets'],
  updatePet: ['update', 'pets'],
  removePet: ['remove', 'pets'],
  getPet: ['get', 'pets'],
  listPets: ['list', 'pets'],
  listEvents: ['history', 'pets'],
  placeOrder: ['place', 'orders'],
  updateOrder: ['update', 'orders'],
  getOrder: ['get', 'orders'],
  listOrders: ['list', 'orders'],
  createCategory: ['create', 'categories'],
  updateCategory: ['update', 'categories'],
  removeCategory: ['remove', 'categories'],
  getCategory: ['get', 'categories'],
  listCategories: ['list', 'categories'],
  listCategoryEvents: ['history', 'categories'],
  addBook: ['create', 'books'],
  getBook: ['get', 'books'],
  listBooks: ['list', 'books'],
  listBookEvents: ['history', 'books'],
  lendBook: ['place', 'loans'],
  changeLoan: ['update', 'loans'],
  getLoan: ['get', 'loans'],
  listLoans: ['list', 'loans'],
  reserveBook: ['place', 'reservations'],
  getReservation: ['get', 'reservations'],
  listReservations: ['list', 'reservations'],
  followEvents: ['feed', 'pets'],
} as const satisfies Readonly<Record<string, readonly [Kind, Shown]>>

export type Operation = keyof typeof operations

interface OfOperation {
  readonly operation: Operation
}

/** What an operation is about. */
export function collectionOf(operation: Operation): Shown {
  return operations[operation][1]
}

export function isOf({ operation }: OfOperation, ...kinds: readonly Kind[]): boolean {
  return kinds.includes(operations[operation][0])
}

export function isWrite(asked: OfOperation): boolean {
  return isOf(asked, 'create', 'place', 'update', 'remove')
}

/** The operation that does this to a collection. */
export function operationOf(kind: Kind, collection: Shown): Operation {
  const found = Object.entries(operations).find(([, [does, of]]) => does === kind && of === collection)
  if (found === undefined) throw new RangeError(`nothing does ${kind} to ${collection}`)
  return found[0] as Operation
}

const holders: Readonly<Partial<Record<Shown, Shown>>> = { orders: 'pets', loans: 'books', reservations: 'books' }

/** The collection of the streams that documents of this one come of. */
export function holderOf(collection: Shown): Shown {
  return holders[collection] ?? collection
}

/** What the partition of a document follows from; also the stream, of what is one. */
export function keyOf(collection: string, id: number): string {
  return collection === 'categories' ? `categories/${id}` : String(id)
}
