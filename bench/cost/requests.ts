import type { CountedRequest } from '../load/counted.ts'
import { post } from '../scenarios.ts'

/** The requests whose cost is measured, in the order in which a round sends them. */
export const requestNames = ['GET by id', 'page of 20', 'POST', 'POST with key', 'PATCH', 'placeOrder'] as const
export type RequestName = (typeof requestNames)[number]

/** How many pets are read and changed. Those that are added later are there to be ordered. */
export const petCount = 2000

/** The requests that one server has been sent, so that each next one is new to it. */
export class Requests {
  /** The addresses of the pets, in the order in which they were added. */
  readonly #pets: string[] = []
  #sent = 0
  #ordered = petCount

  /** Requests of one kind; no more orders than there are pets that nobody has ordered. */
  take(name: RequestName, count: number): CountedRequest[] {
    const possible = name === 'placeOrder' ? Math.min(count, this.#pets.length - this.#ordered) : count
    return Array.from({ length: possible }, () => this.#next(name))
  }

  added(path: string): void {
    this.#pets.push(path)
  }

  #next(name: RequestName): CountedRequest {
    const number = this.#sent++
    const path = this.#pets[number % Math.min(petCount, this.#pets.length)] ?? ''
    switch (name) {
      case 'GET by id':
        return { method: 'GET', path }
      case 'page of 20':
        return { method: 'GET', path: '/v1/pets?limit=20' }
      case 'POST':
        return add
      case 'POST with key':
        return { ...add, headers: { 'idempotency-key': `"cost-${number}"` } }
      case 'PATCH':
        return { method: 'PATCH', path, body: JSON.stringify({ name: `Rex the ${number}th` }) }
      case 'placeOrder': {
        const petId = Number(this.#pets[this.#ordered++]?.split('/').at(-1))
        return { method: 'POST', path: '/v1/store/orders', body: JSON.stringify({ petId }) }
      }
    }
  }
}

/** The pet is available, and so can be ordered. */
const add = { method: 'POST', path: '/v1/pets', body: post.body ?? '' } as const
