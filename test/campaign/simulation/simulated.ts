import { type CachedDocument, type Exchange, fromStart, type History, type Order, type Pet } from '../history.ts'
import { Random } from '../random.ts'
import { partitions, SimulatedLog } from './simulated-log.ts'
import { type Answer, type Instance, type Question, SimulatedService, type Steps } from './simulated-service.ts'

const clients = ['session 1', 'session 2', 'session 3', 'session 4', undefined, undefined]

/** A history of a correct service, with everything that may go wrong around it. */
export function simulate(seed: number, exchangesMax = 150): History {
  return new Simulation(seed, exchangesMax).run()
}

/** A request that an instance works on. It may outlive the patience of its client, or end with the instance. */
interface Call {
  readonly instance: Instance
  readonly steps: Steps
  answer?: Answer
  isLost?: boolean
}

type Ask = (question: Question) => Steps<Exchange>

class Simulation {
  readonly #exchangesMax: number
  readonly #random: Random
  readonly #log = new SimulatedLog(() => this.#nowMs)
  readonly #service: SimulatedService
  readonly #instances = ['api-1#1', 'api-2#1'].map((name): Instance => ({ name, next: new Array(partitions).fill(0) }))
  readonly #exchanges: Exchange[] = []
  readonly #pets: number[] = []
  readonly #orders: number[] = []
  readonly #cached = new Map<string, CachedDocument>()
  #running: Steps[] = []
  #calls: Call[] = []
  #nowMs = 0
  #asked = 0
  #names = 0

  constructor(seed: number, exchangesMax: number) {
    this.#exchangesMax = exchangesMax
    this.#random = new Random(seed)
    this.#service = new SimulatedService(this.#random, this.#log, (steps) => this.#running.push(steps))
  }

  run(): History {
    this.#running = [...clients.map((session) => this.#live(session)), this.#follow(), this.#follow()]
    while (this.#running.length > 0) {
      this.#nowMs += 1 + this.#random.below(3)
      const steps = this.#random.pick(this.#running)
      if (steps.next().done) this.#running = this.#running.filter((other) => other !== steps)
      if (this.#random.chance(0.6)) this.#apply(this.#random.pick(this.#instances), this.#random.below(partitions))
      if (this.#random.chance(0.003)) this.#restart(this.#random.below(this.#instances.length))
    }
    return { log: this.#log.records, exchanges: this.#exchanges.toSorted((one, other) => one.number - other.number) }
  }

  /** The next record of the partition, if there is one. */
  #apply({ next }: Instance, partition: number): void {
    next[partition] = Math.min((next[partition] ?? 0) + 1, this.#log.end(partition))
  }

  /** What the process worked on is lost, and it may go on from an earlier offset. */
  #restart(at: number): void {
    const { name = '', next = [] } = this.#instances[at] ?? {}
    const [host, starts] = name.split('#')
    for (const call of this.#calls.filter(({ instance }) => instance.name === name)) {
      call.isLost = true
      this.#running = this.#running.filter((steps) => steps !== call.steps)
    }
    const nextAfter = next.map((offset) => Math.max(0, offset - this.#random.below(3)))
    this.#instances[at] = { name: `${host}#${Number(starts) + 1}`, next: nextAfter }
  }

  *#live(session: string | undefined): Steps {
    let token: string | undefined
    const simulation = this
    function* ask(question: Question): Steps<Exchange> {
      const sent = token === undefined ? question : { ...question, token }
      const exchange = yield* simulation.#exchange(sent, session)
      if (session !== undefined) token = exchange.tokenAfter ?? token
      yield
      return exchange
    }
    yield* this.#insist(ask, this.#newPet())
    while (this.#asked < this.#exchangesMax) yield* this.#act(ask)
  }

  *#act(ask: Ask): Steps {
    const chance = this.#random.next()
    const pet = this.#recent(this.#pets)
    const order = this.#recent(this.#orders)
    if (pet === undefined || chance < 0.15) yield* this.#insist(ask, this.#newPet())
    else if (chance < 0.34) yield* this.#insist(ask, this.#newOrder(pet))
    else if (order !== undefined && chance < 0.52) {
      const status = this.#random.pick(['approved', 'approved', 'delivered', 'cancelled', 'cancelled', 'placed'])
      yield* ask({ operation: 'updateOrder', id: order, wanted: { status }, ...this.#cachedOf('order', order) })
    } else if (order !== undefined && chance < 0.64) {
      yield* ask({ operation: 'getOrder', id: order, ...this.#cachedOf('order', order) })
    } else if (chance < 0.78) yield* ask({ operation: 'getPet', id: pet, ...this.#cachedOf('pet', pet) })
    else if (chance < 0.84) yield* ask({ operation: 'listEvents', id: pet })
    else yield* this.#browse(ask)
  }

  *#follow(): Steps {
    let token: string | undefined
    while (this.#asked < this.#exchangesMax) {
      if (token === undefined || this.#random.chance(0.1)) token = this.#random.pick([undefined, fromStart])
      const asked: Question = { operation: 'followEvents', ...(token !== undefined && { token }) }
      const { tokenAfter } = yield* this.#exchange(asked, undefined)
      token = tokenAfter ?? token
      for (let pause = this.#random.below(30); pause > 0; pause--) yield
    }
  }

  /** What somebody was told of it last. */
  #cachedOf(collection: 'pet' | 'order', id: number): Pick<Question, 'cached'> {
    const cached = this.#random.chance(0.4) ? this.#cached.get(`${collection} ${id}`) : undefined
    return cached === undefined ? {} : { cached }
  }

  #newPet(): Question {
    const name = `pet ${this.#names++}`
    const status = this.#random.pick([undefined, undefined, 'available', 'available', 'available', 'sold'])
    const wanted = { name, categoryId: this.#random.below(5), ...(status !== undefined && { status }) }
    return { operation: 'createPet', wanted, ...(this.#random.chance(0.4) && { idempotencyKey: name }) }
  }

  #newOrder(id: number): Question {
    const idempotencyKey = `order ${this.#names++}`
    return { operation: 'placeOrder', id, ...(this.#random.chance(0.4) && { idempotencyKey }) }
  }

  #recent(ids: readonly number[]): number | undefined {
    return ids.length === 0 ? undefined : this.#random.pick(ids.slice(this.#random.chance(0.7) ? -4 : 0))
  }

  /** What has a key may be sent again, and sometimes is although it was answered. */
  *#insist(ask: Ask, question: Question): Steps {
    for (let attempt = 0; attempt < 4; attempt++) {
      const { status = 500 } = yield* ask(question)
      if (question.idempotencyKey === undefined || !this.#random.chance(status < 500 ? 0.2 : 0.8)) return
    }
  }

  *#browse(ask: Ask): Steps {
    const isOfPets = this.#random.chance(0.7)
    const statuses = isOfPets ? ['available', 'pending', 'sold'] : ['placed', 'approved', 'cancelled']
    const status = this.#random.chance(0.4) ? this.#random.pick(statuses) : undefined
    const limit = this.#random.pick([3, 8, 100])
    const operation = isOfPets ? 'listPets' : 'listOrders'
    for (let after: number | undefined = 0; after !== undefined; ) {
      const page: Question['page'] = { after, limit, ...(status !== undefined && { status }) }
      const answer: Exchange = yield* ask({ operation, page })
      after = answer.hasNext ? (answer.body as (Pet | Order)[]).at(-1)?.id : undefined
    }
  }

  *#exchange(question: Question, session: string | undefined): Steps<Exchange> {
    const instance = this.#random.pick(this.#instances)
    const asked = { number: this.#asked++, ...question, session, sentMs: this.#nowMs }
    const call = this.#call(instance, question, asked.number)
    const patience = this.#random.chance(0.05) ? this.#random.below(8) : Number.POSITIVE_INFINITY
    for (let waited = 0; call.answer === undefined && !call.isLost && waited < patience; waited++) yield
    const { answer } = call
    const told = { instance: answer && instance.name, answeredMs: this.#nowMs, ...(answer ?? { status: undefined }) }
    const exchange: Exchange = { ...asked, ...told }
    this.#exchanges.push(exchange)
    const { status, operation, body, tag } = exchange
    if (tag !== undefined) {
      const name = `${operation.endsWith('Pet') ? 'pet' : 'order'} ${(body as Pet | Order).id}`
      this.#cached.set(name, { tag, body })
    }
    if (status === 201) (operation === 'createPet' ? this.#pets : this.#orders).push((body as Pet | Order).id)
    return exchange
  }

  #call(instance: Instance, question: Question, number: number): Call {
    const service = this.#service
    function* work(): Steps {
      call.answer = yield* service.answer(instance, question, number)
    }
    const call: Call = { instance, steps: work() }
    this.#calls.push(call)
    this.#running.push(call.steps)
    return call
  }
}
