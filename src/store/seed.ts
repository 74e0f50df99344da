import { setTimeout as delay } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import { readConfig } from '../engine/app/config.ts'
import { ConfigError } from '../engine/app/environment.ts'
import { petStatuses } from './pet.ts'
import { OutOfReachError } from '../engine/lib/errors.ts'
import { addAction, type Outcome, showProgress } from '../engine/cli/output.ts'

interface Options {
  readonly orders: number
  readonly name: string
  readonly url?: string
  readonly json?: boolean
}

const atOnce = 16
/** Attempts per request: retries no answer, 429 and 5xx. */
const triesMax = 20
const retryMs = 500

export function addSeedCommand(program: Command): void {
  const seeding = program
    .command('seed')
    .argument('<pets>', 'how many pets there are to be', wholeNumber)
    .option('--orders <n>', 'how many of them to order', wholeNumber, 0)
    .option('--name <name>', 'of the seed: the same one adds nothing twice', 'seed')
    .option('--url <url>', 'of the service: by default on this machine, at PORT', httpUrl)
  const description =
    'Add pets, and order some, by the API. PETSTORE_KEY is the API key. It can be repeated after a break'
  addAction(seeding, description, seed)
}

function wholeNumber(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

function httpUrl(text: string): string {
  if (/^https?:/i.test(text) && URL.canParse(text)) return text
  throw new InvalidArgumentError('It must begin with http:// or https://.')
}

async function seed(pets: number, { orders, name, url, json = false }: Options): Promise<Outcome> {
  if (orders > pets) throw new ConfigError(`--orders ${orders} is more than the ${pets} pets there will be.`)
  const api = new Api(url ?? `http://127.0.0.1:${readConfig(process.env).port}`)
  const progress = showProgress(json)
  const counts = { pets: 0, orders: 0, repeated: 0 }
  await inParallel(pets, async (index) => {
    const isOrdered = index < orders
    const status = isOrdered ? 'available' : petStatuses[index % petStatuses.length]
    const newPet = { name: `${name} ${index}`, categoryId: index % 10, status }
    const { id, isReplayed } = await api.post('/v1/pets', newPet, `${name} pet ${index}`)
    counts.pets++
    if (isReplayed) counts.repeated++
    if (isOrdered) await order(api, id, `${name} order ${index}`, index)
    if (isOrdered) counts.orders++
    progress.update('seed', counts.pets, pets)
  }).finally(() => progress.end())
  const again = counts.repeated === 0 ? '' : `, of which ${counts.repeated} pets were there already`
  return { json: counts, text: `There are ${counts.pets} pets and ${counts.orders} orders of this seed${again}.` }
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
      throw new ConfigError('PETSTORE_KEY is not set: set it to an API key with the scopes write and orders.')
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
        const isUsedUp = response.status === 429 && text.includes('"quota_exceeded"') // until midnight
        const isBusy = (response.status === 429 && !isUsedUp) || response.status >= 500
        if (!isBusy || tries === triesMax) return { response, text }
        await delay(Number(response.headers.get('retry-after') ?? 0) * 1000 || retryMs)
      } catch (cause) {
        if (tries === triesMax || !(cause instanceof TypeError)) {
          throw new OutOfReachError(`${this.#url} does not answer: start the service, or name it by --url.`, { cause })
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
