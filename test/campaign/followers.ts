import { setTimeout as delay } from 'node:timers/promises'
import { serverSentEvents } from '../e2e/server-sent-events.ts'
import { type Exchange, fromStart, positionsOf } from '../judge/history.ts'
import type { ClientOptions } from './clients.ts'
import { type Api, codeIn, parsed } from './recorder.ts'

const pauseMs = 500
/** How long one stays with an answer that has no end. */
const stayMs = { least: 300, most: 8000 }
/** A feed that goes nowhere for so long stands still. */
const stillMs = 30_000

/** Clients that follow the events of all pets, on one instance after the other, and mostly go on from where they were. */
export class Followers {
  readonly #options: ClientOptions
  readonly #done: Promise<unknown>
  readonly #stopping = new AbortController()
  /** Raised to have every follower begin anew. */
  #era = 0

  constructor(options: ClientOptions, count: number) {
    this.#options = options
    this.#done = Promise.all(Array.from({ length: count }, () => this.#live()))
    this.#done.catch(() => {}) // told by `stop`
  }

  beginAnew(): void {
    this.#era++
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#done
  }

  async #live(): Promise<void> {
    const { instances, random } = this.#options
    let [era, after]: [number, string | undefined] = [this.#era, undefined]
    while (!this.#stopping.signal.aborted) {
      const isAnew = after === undefined || era !== this.#era || random.chance(0.1)
      era = this.#era
      after = await this.#follow(random.pick(instances), isAnew ? this.#beginning() : after)
      await delay(random.below(pauseMs))
    }
  }

  /** Mostly the start of the log, since what comes first is then known. Undefined: now. */
  #beginning(): string | undefined {
    return this.#options.random.chance(0.7) ? fromStart : undefined
  }

  /** Resolves to the id from which to go on. */
  async #follow(api: Api, from: string | undefined): Promise<string | undefined> {
    const { random } = this.#options
    const enough = AbortSignal.timeout(stayMs.least + random.below(stayMs.most))
    const signal = AbortSignal.any([enough, this.#stopping.signal])
    const era = this.#era
    let after = from
    for await (const id of follow(this.#options, api, { from, signal, isKept: () => era === this.#era })) after = id
    return after
  }
}

/**
 * Follows a process from the start until its ids come to these ends of the partitions. Resolves to where it stands still
 * before that.
 */
export async function followToEnd(
  options: Pick<ClientOptions, 'recorder' | 'apiKey'>,
  api: Api,
  ends: readonly number[],
  standingMs = stillMs,
): Promise<string | undefined> {
  const still = new AbortController()
  const timer = setTimeout(() => still.abort(), standingMs)
  let from = fromStart
  try {
    while (!still.signal.aborted) {
      for await (const id of follow(options, api, { from, signal: still.signal })) {
        if (id !== from) timer.refresh()
        from = id
        if (missingOf(id, ends) === undefined) return undefined
      }
      await delay(100)
    }
  } finally {
    clearTimeout(timer)
  }
  return missingOf(from, ends)
}

/** The first partition whose end the id does not name, in words. */
function missingOf(id: string, ends: readonly number[]): string | undefined {
  const positions = positionsOf(id)
  const partition = ends.findIndex((end, each) => (positions.get(each) ?? -1) < end - 1)
  if (partition < 0) return undefined
  return `it is at ${positions.get(partition) ?? 'the start'} of partition ${partition}, which ends at ${ends[partition]}`
}

interface Following {
  /** The id from which to go on, or `fromStart`. Undefined: with what comes from now on. */
  readonly from: string | undefined
  readonly signal: AbortSignal
  readonly isKept?: () => boolean
}

/**
 * The ids of one answer, each of whose steps the recorder keeps. It ends with the connection. Throws SyntaxError where
 * what came is not what a feed has.
 */
async function* follow(
  { recorder, apiKey }: Pick<ClientOptions, 'recorder' | 'apiKey'>,
  api: Api,
  { from, signal, isKept = () => true }: Following,
): AsyncGenerator<string> {
  const { instance } = api
  let [after, sentMs] = [from, recorder.now()]
  const keep = (answer: Answer) => {
    const answeredMs = recorder.now()
    const by = api.instance === instance ? instance : undefined
    const step = { sentMs, answeredMs, instance: by, ...(after !== undefined && { token: after }), ...answer }
    if (isKept()) recorder.followed(step)
    sentMs = answeredMs
  }
  const isGoingOn = from !== undefined && from !== fromStart
  try {
    const response = await fetch(new URL(`/v1/events${from === fromStart ? '?from=start' : ''}`, api.url), {
      signal,
      headers: { authorization: `Bearer ${apiKey}`, ...(isGoingOn && { 'last-event-id': from }) },
    })
    const { ok, status, body } = response
    if (!ok || body === null) keep({ status, code: codeIn(await response.text(), status) })
    else {
      for await (const { events, id } of stepsOf(body)) {
        keep({ status, body: events, tokenAfter: id })
        after = id
        yield id
      }
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw error
    // it left, or the connection was lost
  }
}

type Answer = Pick<Exchange, 'status' | 'code' | 'body' | 'tokenAfter'>

/** The events up to each id. */
async function* stepsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<{ events: unknown[]; id: string }> {
  let events: unknown[] = []
  for await (const { id, data } of serverSentEvents(body)) {
    if (data !== undefined) events.push(parsed(data))
    if (id === undefined) continue
    yield { events, id }
    events = []
  }
}
