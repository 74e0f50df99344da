import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { ServiceName } from '../judge/history.ts'
import type { Operation } from '../judge/operations.ts'
import { eventRecord } from '../lib/event-record.ts'
import type { Random } from '../lib/random.ts'
import { LibraryWorkload } from './library-workload.ts'
import type { Asked } from './recorder.ts'
import { Workload } from './workload.ts'

const root = join(import.meta.dirname, '../..')

/** A service that a campaign can be about. */
export interface Served {
  readonly name: ServiceName
  /** The program, and that of its operators. */
  readonly main: string
  readonly cli: string
  readonly newWorkload: (random: Random) => Workload | LibraryWorkload
  /** Adds something, and lists all that is like it. */
  readonly adding: (key: string) => Asked
  readonly listing: Operation
  /** What another program adds under an id. */
  readonly foreign: (id: number, random: Random) => { readonly key: string; readonly value: string }
  /** Whatever this list shows can be taken for a moment, which draws an id. */
  readonly taking: {
    readonly free: string
    readonly path: string
    readonly body: (id: number) => object
    readonly end: object
  }
}

export const petstore: Served = {
  name: 'petstore',
  main: join(root, 'src/main.ts'),
  cli: join(root, 'src/cli.ts'),
  newWorkload: (random) => new Workload(random),
  adding: (key) => ({ operation: 'createPet', idempotencyKey: key, wanted: { name: key, categoryId: 1 } }),
  listing: 'listPets',
  foreign: (id, random) => {
    const status = random.pick(['available', 'pending', 'sold'])
    return foreignEvent(id, 'petstore.PetCreated.v1', { id, name: 'from elsewhere', categoryId: 1, status })
  },
  taking: {
    free: '/v1/pets?status=available&limit=100',
    path: '/v1/store/orders',
    body: (petId) => ({ petId }),
    end: { status: 'cancelled' },
  },
}

const libraryProgram = join(root, 'examples/loans/main.ts')

export const library: Served = {
  name: 'library',
  main: libraryProgram,
  cli: libraryProgram,
  newWorkload: (random) => new LibraryWorkload(random),
  adding: (key) => ({ operation: 'addBook', idempotencyKey: key, wanted: { title: key } }),
  listing: 'listBooks',
  foreign: (id) => foreignEvent(id, 'library.BookAdded.v1', { id, title: 'from elsewhere' }),
  taking: {
    free: '/v1/books?status=in&limit=100',
    path: '/v1/loans',
    body: (bookId) => ({ bookId, memberId: 1 }),
    end: { do: 'return' },
  },
}

export const served: Readonly<Record<ServiceName, Served>> = { petstore, library }

function foreignEvent(id: number, type: string, data: object) {
  return eventRecord({ id: randomUUID(), subject: String(id), type, source: '/elsewhere', streamversion: 1, data })
}
