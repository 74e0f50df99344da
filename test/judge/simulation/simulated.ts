import { Workload } from '../../campaign/workload.ts'
import { Random } from '../../lib/random.ts'
import { type Exchange, fromStart, type History } from '../history.ts'
import { partitions, SimulatedLog } from './simulated-log.ts'
import { type Answer, type Instance, type Question, SimulatedService, type Steps } from './simulated-service.ts'

/** From then on clients finish what they are at. */
const exchangesMax = 150
const clients = ['session 1', 'session 2', 'session 3', 'session 4', undefined, undefined]

/** A history of a correct service, with everything that may go wrong around it. */
export function simulate(seed: number): History {
  return new Simulation(seed).run()
}

/** A request that an instance works on. It may outlive the patience of its client, or end with the instance. */
interface Call {
  readonly instance: Instance
  readonly steps: Steps
  answer?: Answer
  isLost?: boolean
}

class Simulation {
  readonly #random: Random
  readonly #log = new SimulatedLog(() => this.#nowMs)
  readonly #service: SimulatedService
  readonly #instances = ['api-1#1', 'api-2#1'].map((name): Instance => ({ name, next: new Array(partitions).fill(0) }))
  readonly #exchanges: Exchange[] = []
  readonly #workload: Workload
  #running: Steps[] = []
  #calls: Call[] = []
  #nowMs = 0
  #asked = 0

  constructor(seed: number) {
    this.#random = new Random(seed)
    this.#workload = new Workload(this.#random)
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
    while (this.#asked < exchangesMax) {
      const turn = this.#workload.act()
      for (let step = turn.next(); !step.done; ) {
        const sent = token === undefined ? step.value : { ...step.value, token }
        const exchange = yield* this.#exchange(sent, session)
        if (session !== undefined) token = exchange.tokenAfter ?? token
        yield
        step = turn.next(exchange)
      }
    }
  }

  *#follow(): Steps {
    let token: string | undefined
    while (this.#asked < exchangesMax) {
      if (token === undefined || this.#random.chance(0.1)) token = this.#random.pick([undefined, fromStart])
      const asked: Question = { operation: 'followEvents', ...(token !== undefined && { token }) }
      const { tokenAfter } = yield* this.#exchange(asked, undefined)
      token = tokenAfter ?? token
      for (let pause = this.#random.below(30); pause > 0; pause--) yield
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
    this.#workload.tell(exchange)
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
