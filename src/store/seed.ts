import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { ServiceCommand } from '../engine/index.ts'
import { petStatuses } from './pet.ts'

const atOnce = 16
/** Attempts per request: retries no answer, 429 and 5xx. */
const triesMax = 20
const retryMs = 500
const progressMs = 5000

const usage = `Usage: petstore seed [options] <pets>

Adds pets, and orders some, by the API. PETSTORE_KEY is the API key. It can be repeated after a break.

  <pets>         how many pets there are to be
  --orders <n>   how many of them to order (default: 0)
  --name <name>  of the seed: the same one adds nothing twice (default: "seed")
  --url <url>    of the service: by default on this machine, at PORT
  --json         print JSON`

const options = {
  orders: { type: 'string', default: '0' },
  name: { type: 'string', default: 'seed' },
  url: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

export const seed: ServiceCommand = {
  name: 'seed',
  summary: 'Add pets, and order some, by the API',
  async run(argv, ownUrl) {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true })
    if (values.help) return usage
    const [pets, orders] = [wholeNumber('<pets>', positionals[0]), wholeNumber('--orders', values.orders)]
    if (orders > pets) throw new RangeError(`--orders ${orders} is more than the ${pets} pets there will be.`)
    const counts = await addAll(new Api(httpUrl(values.url ?? ownUrl)), { pets, orders, name: values.name })
    return values.json ? JSON.stringify(counts, undefined, 2) : told(counts)
  },
}

function wholeNumber(what: string, text = ''): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new RangeError(`${what} must be a whole number.\n\n${usage}`)
}

function httpUrl(text: string): string {
  if (/^https?:/i.test(text) && URL.canParse(text)) return text
  throw new RangeError('--url must begin with http:// or https://.')
}

interface Wanted {
  readonly pets: number
  readonly orders: number
  readonly name: string
}

type Counts = Record<'pets' | 'orders' | 'repeated', number>

async function addAll(api: Api, { pets, orders, name }: Wanted): Promise<Counts> {
  const counts = { pets: 0, orders: 0, repeated: 0 }
  const progress = setInterval(() => process.stderr.write(`seed: ${counts.pets} of ${pets}\n`), progressMs)
  await inParallel(pets, async (index) => {
    const isOrdered = index < orders
    const status = isOrdered ? 'available' : petStatuses[index % petStatuses.length]
    const newPet = { name: `${name} ${index}`, categoryId: index % 10, status }
    const { id, isReplayed } = await api.post('/v1/pets', newPet, `${name} pet ${index}`)
    counts.pets++
    if (isReplayed) counts.repeated++
    if (isOrdered) await order(api, id, `${name} order ${index}`, index)
    if (isOrdered) counts.orders++
  }).finally(() => clearInterval(progress))
  return counts
}

function told({ pets, orders, repeated }: Counts): string {
  const again = repeated === 0 ? '' : `, of which ${repeated} pets were there already`
  return `There are ${pets} pets and ${orders} orders of this seed${again}.`
}

/** One order in three stays placed, one is approved, and one is delivered. */
async function order(api: Api, petId: number, key: string, index: number): Promise<void> {
  const { id } = await api.post('/v1/store/orders', { petId }, key)
  for (const status of ['approved', 'delivered'].slice(0, index % 3))
    await api.patch(`/v1/store/orders/${id}`, { status })
}

class Api {
  readonly #url: string
  readonly #key: string

  constructor(url: string) {
    this.#url = url
    this.#key = process.env.PETSTORE_KEY ?? ''
    if (this.#key === '')
      throw new RangeError('PETSTORE_KEY is not set: set it to an API key with the scopes write and orders.')
  }

  async post(path: string, body: object, key: string): Promise<{ id: number; isReplayed: boolean }> {
    const { response, text } = await this.#send('POST', path, body, { 'idempotency-key': `"${key}"` })
    if (response.status !== 201) throw refusal(path, response.status, text)
    return { id: JSON.parse(text).id, isReplayed: response.headers.get('idempotency-replayed') === 'true' }
  }

  /** An order that is beyond the status already is as it should be. */
  async patch(path: string, body: object): Promise<void> {
    const { response, text } = await this.#send('PATCH', path, body, {})
    if (response.status !== 200 && response.status !== 409) throw refusal(path, response.status, text)
  }

  async #send(method: string, path: string, body: object, more: Readonly<Record<string, string>>) {
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...more }
    for (let tries = 1; ; tries++) {
      try {
        const response = await fetch(new URL(path, this.#url), { method, headers, body: JSON.stringify(body) })
        const text = await response.text()
        const isBusy = response.status === 429 || response.status >= 500
        if (!isBusy || tries === triesMax) return { response, text }
        await delay(Number(response.headers.get('retry-after') ?? 0) * 1000 || retryMs)
      } catch (cause) {
        if (tries === triesMax || !(cause instanceof TypeError)) {
          throw new Error(`${this.#url} does not answer: start the service, or name it by --url.`, { cause })
        }
        await delay(retryMs)
      }
    }
  }
}

function refusal(path: string, status: number, text: string): Error {
  return new Error(`${path} was answered with ${status}: ${text}`)
}

async function inParallel(count: number, task: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  async function worker(): Promise<void> {
    while (next < count) await task(next++)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker))
}
