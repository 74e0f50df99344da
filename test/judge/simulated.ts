import { setTimeout as delay } from 'node:timers/promises'
import fc from 'fast-check'
import { library } from '../../examples/loans/library.ts'
import { define } from '../../src/engine/definition/definition.ts'
import { writeToken } from '../../src/engine/http/values/tokens.ts'
import { MemoryEventLog, MemoryLogData } from '../../src/engine/testing/memory/memory-event-log.ts'
import { Clients } from '../campaign/clients.ts'
import type { Api } from '../campaign/recorder.ts'
import { type Served, served } from '../campaign/served.ts'
import { Random } from '../lib/random.ts'
import { petstore } from '../store/petstore.ts'
import { fromStart, type History, positionsOf, type ServiceName } from './history.ts'
import type { ApiProcess } from './model/process.ts'
import { disturbance } from './model/steps.ts'
import { done, inVirtualTime, pass } from './model/virtual-time.ts'
import { World } from './model/world.ts'

const definitions = { petstore, library: define(library.service) }

export const partitions = 6
const exchangesMin = 150
const disturbances = 6
/** What has a key is sent many times, each of which may take until its time limit. */
const stoppedMsMax = 600_000
const apiKey = ''

/** A history of the service in virtual time, with everything that may go wrong around it. */
export function simulate(seed: number, service: ServiceName = 'petstore'): Promise<History> {
  return inVirtualTime(() => new Simulation(seed, service).run())
}

class Simulation {
  readonly #random: Random
  readonly #served: Served
  readonly #world: World
  readonly #disturbances: readonly (typeof disturbance extends fc.Arbitrary<infer T> ? T : never)[]
  #isOver = false

  constructor(seed: number, service: ServiceName) {
    const random = new Random(seed)
    this.#random = random
    this.#served = served[service]
    const latenciesMs = Array.from({ length: 12 }, () => 1 + random.below(15))
    const log = new MemoryEventLog(new MemoryLogData(partitions))
    this.#world = new World(log, latenciesMs, { service, definition: definitions[service] })
    const drawn = fc.sample(disturbance, { seed, numRuns: disturbances })
    const isOfAny = ({ kind }: { readonly kind: string }) => service === 'petstore' || !/^(foreign|rivals)/.test(kind)
    this.#disturbances = drawn.filter(isOfAny)
  }

  async run(): Promise<History> {
    const world = this.#world
    const { recorder } = world.clients
    if (this.#served.name === 'petstore') await world.begin()
    else await world.settled()
    const workload = this.#served.newWorkload(this.#random)
    const asking = { recorder, apiKey, random: this.#random, workload, thinkMs: 8 }
    const clients = new Clients({ ...asking, instances: this.#instances() }, 6)
    const followers = [this.#follow(), this.#follow()]
    for (const what of this.#disturbances) {
      await pass(this.#random.below(100))
      await world.take({ pause: 0, what })
    }
    while (recorder.exchanges.length < exchangesMin) await pass(100)
    this.#isOver = true
    await done(Promise.all([clients.stop(), ...followers]), stoppedMsMax)
    await world.heal()
    const history = { log: await world.records(), exchanges: recorder.exchanges, service: this.#served.name }
    await world.close()
    return history
  }

  /** Each is the process that has its place now. */
  #instances(): Api[] {
    const { apis } = this.#world
    return [...apis.keys()].map((at) => ({
      url: 'http://api',
      get instance() {
        return apis[at]?.instance ?? ''
      },
      fetch: (url, sent) => apis[at]?.answer(url, sent, () => false) ?? Promise.reject(new RangeError(`process ${at}`)),
    }))
  }

  /** Follows the events on one process after the other, mostly from where the last one ended. */
  async #follow(): Promise<void> {
    const random = this.#random
    let after: string | undefined
    while (!this.#isOver) {
      if (after === undefined || random.chance(0.1)) after = random.pick([undefined, fromStart])
      after = await this.#followOne(after)
    }
  }

  /** For some time, or until the process is no more. Resolves to the id from which to go on. */
  async #followOne(from: string | undefined): Promise<string | undefined> {
    const left = new AbortController()
    const heard = { token: from }
    void this.#hear(this.#random.pick(this.#world.apis), heard, left.signal).catch(() => {}) // it may be out of reach
    await delay(10 + this.#random.below(300))
    left.abort()
    return heard.token
  }

  async #hear({ events, instance }: ApiProcess, heard: { token: string | undefined }, signal: AbortSignal) {
    const { recorder } = this.#world.clients
    const after = heard.token === undefined ? ('now' as const) : positionsIn(heard.token)
    let sentMs = recorder.now()
    for await (const step of await events.follow({ after }, account, signal)) {
      const { token } = heard
      const answeredMs = recorder.now()
      const body = step.events.map(({ json }) => JSON.parse(json))
      const tokenAfter = writeToken(this.#world.log, step.after)
      const asked = { sentMs, answeredMs, instance, ...(token !== undefined && { token }) }
      recorder.followed({ ...asked, status: 200, body, tokenAfter })
      heard.token = tokenAfter
      sentMs = answeredMs
    }
  }
}

const account = { owner: 'clients', count: () => 0 }

function positionsIn(token: string) {
  return [...positionsOf(token)].map(([partition, offset]) => ({ partition, offset }))
}
