import { setTimeout as delay } from 'node:timers/promises'
import type { CachedDocument, Exchange, Order, Pet } from './history.ts'
import type { Random } from './random.ts'
import type { Question, Recorder } from './recorder.ts'
import type { Supervised } from './system/supervised.ts'

const thinkMs = 8
const attemptsMax = 40

export interface ClientOptions {
  readonly recorder: Recorder
  readonly instances: readonly Supervised[]
  readonly apiKey: string
  readonly random: Random
}

/** What the clients tell each other of: pets and orders to be rivals about, and what they were last told of each. */
class KnownResources {
  readonly #pets: number[] = []
  readonly #orders: number[] = []
  readonly #cached = new Map<string, CachedDocument>()

  pet(random: Random): number | undefined {
    return recent(this.#pets, random)
  }

  order(random: Random): number | undefined {
    return recent(this.#orders, random)
  }

  cached(collection: 'pet' | 'order', id: number): CachedDocument | undefined {
    return this.#cached.get(`${collection} ${id}`)
  }

  /** Tags of what is lost may come again for something else. */
  forgetTags(): void {
    this.#cached.clear()
  }

  tell({ operation, status, body, tag }: Exchange): void {
    if (tag !== undefined) {
      this.#cached.set(`${operation.endsWith('Pet') ? 'pet' : 'order'} ${(body as Pet | Order).id}`, { tag, body })
    }
    if (status === 201 && operation === 'createPet') this.#pets.push((body as Pet).id)
    if (status === 201 && operation === 'placeOrder') this.#orders.push((body as Order).id)
  }
}

/** Mostly one of the last few, so that several clients are about the same. */
function recent(ids: readonly number[], random: Random): number | undefined {
  const among = random.chance(0.8) ? 12 : ids.length
  return ids.at(-1 - random.below(Math.min(among, ids.length) || 1))
}

type Asked = Omit<Question, 'session' | 'token' | 'apiKey'>
type Ask = (asked: Asked) => ReturnType<Recorder['ask']>

/** A place in a list, for anybody to go on from. */
type Place = Required<Pick<Asked, 'operation' | 'page'>> & Pick<Asked, 'path'>
const placesMax = 30

/** Clients that add, order, change and read pets, whatever they are answered; most of them pass on their tokens. */
export class Clients {
  readonly #options: ClientOptions
  readonly #known = new KnownResources()
  readonly #done: Promise<unknown>
  readonly #places: Place[] = []
  #isStopped = false
  #names = 0
  /** Raised to have every session begin anew. */
  #era = 0

  constructor(options: ClientOptions, count: number) {
    this.#options = options
    this.#done = Promise.all(Array.from({ length: count }, (_, index) => this.#live(index)))
    this.#done.catch(() => {}) // told by `stop`
  }

  /** Every session forgets its token. */
  beginAnew(): void {
    this.#era++
    this.#known.forgetTags()
  }

  /** Resolves once everybody has their last answer. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#done
  }

  async #live(index: number): Promise<void> {
    let token: string | undefined
    let era = this.#era
    const hasSession = index % 3 !== 2
    const ask = async (asked: Asked) => {
      if (era !== this.#era) token = undefined
      era = this.#era
      const { recorder, instances, apiKey, random } = this.#options
      const session = hasSession ? `${index}.${era}` : undefined
      const own = { session, apiKey, ...(token !== undefined && { token }) }
      const answer = await recorder.ask(random.pick(instances), { ...asked, ...own })
      if (hasSession && era === this.#era) token = answer?.tokenAfter ?? token
      if (answer !== undefined && era === this.#era) this.#known.tell(answer)
      await delay(this.#options.random.below(thinkMs * 2))
      return answer
    }
    while (!this.#isStopped) await this.#act(ask)
  }

  async #act(ask: Ask): Promise<void> {
    const { random } = this.#options
    const chance = random.next()
    const pet = this.#known.pet(random)
    const order = this.#known.order(random)
    if (pet === undefined || chance < 0.22) await this.#readBack(ask, await this.#insist(ask, this.#newPet()))
    else if (chance < 0.4) await this.#readBack(ask, await this.#insist(ask, this.#newOrder(pet)))
    else if (order !== undefined && chance < 0.58) {
      const status = random.pick(['approved', 'approved', 'delivered', 'cancelled'])
      const wanted = { status }
      await this.#readBack(
        ask,
        await ask({ operation: 'updateOrder', id: order, wanted, ...this.#cached('order', order) }),
      )
    } else if (order !== undefined && chance < 0.65) {
      await ask({ operation: 'getOrder', id: order, ...this.#cached('order', order) })
    } else if (chance < 0.77) await ask({ operation: 'getPet', id: pet, ...this.#cached('pet', pet) })
    else if (chance < 0.82) await ask({ operation: 'listEvents', id: pet })
    else await this.#browse(ask)
  }

  /** What somebody was told of it, and not always the latest. */
  #cached(collection: 'pet' | 'order', id: number): Pick<Asked, 'cached'> {
    const cached = this.#options.random.chance(0.4) ? this.#known.cached(collection, id) : undefined
    return cached === undefined ? {} : { cached }
  }

  #newPet(): Asked {
    const { random } = this.#options
    const name = `pet ${this.#names++}`
    const status = random.pick([undefined, 'available', 'available', 'pending', 'sold'])
    const wanted = { name, categoryId: random.below(5), ...(status !== undefined && { status }) }
    return { operation: 'createPet', wanted, ...(random.chance(0.5) && { idempotencyKey: name }) }
  }

  #newOrder(id: number): Asked {
    const isKeyed = this.#options.random.chance(0.4)
    return { operation: 'placeOrder', id, ...(isKeyed && { idempotencyKey: `order ${this.#names++}` }) }
  }

  /** What has a key is sent until its outcome is known. Sometimes it is sent once more. */
  async #insist(ask: Ask, asked: Asked): ReturnType<Ask> {
    const era = this.#era
    let answer = await ask(asked)
    for (let attempt = 1; attempt < attemptsMax; attempt++) {
      if (asked.idempotencyKey === undefined || this.#isStopped || era !== this.#era) break
      const isOpen = answer?.status === undefined || answer.status >= 500
      if (!isOpen && !this.#options.random.chance(0.2)) break
      answer = await ask(asked)
    }
    return answer
  }

  /** Many look at once at what they wrote. */
  async #readBack(ask: Ask, answer: Awaited<ReturnType<Ask>>): Promise<void> {
    const { status = 0, operation, body } = answer ?? {}
    if (status >= 300 || status === 0 || this.#options.random.chance(0.4)) return
    await ask({ operation: operation === 'createPet' ? 'getPet' : 'getOrder', id: (body as Pet | Order).id })
  }

  /** A list from its beginning, or from where somebody left off, and mostly its next pages. */
  async #browse(ask: Ask): Promise<void> {
    const { random } = this.#options
    const isAnew = this.#places.length === 0 || random.chance(0.5)
    let place: Place | undefined = isAnew ? this.#firstPage() : random.pick(this.#places)
    do {
      const answer: Awaited<ReturnType<Ask>> = await ask(place)
      place = nextPlace(place, answer)
      if (place !== undefined) this.#places.push(place)
      if (this.#places.length > placesMax) this.#places.shift()
    } while (place !== undefined && !this.#isStopped && random.chance(0.7))
  }

  #firstPage(): Place {
    const { random } = this.#options
    const isOfPets = random.chance(0.65)
    const statuses = isOfPets ? ['available', 'pending', 'sold'] : ['placed', 'approved', 'delivered', 'cancelled']
    const status = random.chance(0.5) ? {} : { status: random.pick(statuses) }
    const page = { after: 0, limit: random.pick([5, 20, 100]), ...status }
    return { operation: isOfPets ? 'listPets' : 'listOrders', page }
  }
}

function nextPlace({ operation, page }: Place, answer: Awaited<ReturnType<Ask>>): Place | undefined {
  const { link, body } = answer ?? {}
  if (link === undefined) return undefined
  const after = (body as readonly { readonly id: number }[]).at(-1)?.id ?? 0
  return { operation, page: { ...page, after }, path: link }
}
