import { describe, expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { type Answer, apiKey, Client, codeOf, createMany, outcomeOf, type Pet } from '../e2e/client.ts'
import { brokerEnvironment, type Environment, type ServiceProcess, startService } from '../e2e/service.ts'
import { eventually } from '../lib/eventually.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

const [greedy, modest] = ['the-key-of-a-greedy-owner', 'the-key-of-a-modest-owner']
const inFlight = 900
const requests = 20
/** In the median: what is answered while a busy machine does something else is no matter of turns. */
const passedMax = inFlight / 10

type Send = (client: Client, headers: Readonly<Record<string, string>>, number: number) => Promise<Answer>

/** What one owner's requests, one after the other, come to while another owner keeps 900 of its own in flight. */
async function besides(service: ServiceProcess, send: Send) {
  const client = new Client(service)
  const as = (key: string, number: number) => send(client, { authorization: `Bearer ${key}` }, number)
  let [sent, answered, refused, isOver] = [0, 0, 0, false]
  async function keepOneInFlight(): Promise<void> {
    while (!isOver) {
      if (codeOf(await as(greedy, ++sent)) === 'too_many_requests') return void refused++
      answered++
    }
  }
  const kept = Promise.all(Array.from({ length: inFlight + 20 }, keepOneInFlight))
  kept.catch(() => {}) // told below
  // What is answered faster than a client sends is never all in flight.
  await eventually(() => expect(refused > 0 || answered > inFlight).toBe(true))
  const seen: { readonly outcome: string; readonly passed: number; readonly ms: number }[] = []
  for (let number = 0; number < requests; number++) {
    const before = answered
    const answer = await as(modest, -number)
    seen.push({ outcome: outcomeOf(answer), passed: answered - before, ms: answer.ms })
  }
  isOver = true
  await kept
  const sorted = (of: 'passed' | 'ms') => seen.map((each) => Math.round(each[of])).sort((a, b) => a - b)
  return { outcomes: new Set(seen.map(({ outcome }) => outcome)), passed: sorted('passed'), ms: sorted('ms') }
}

function median(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

/** What both owners send, by the pets that there are. */
const kinds: Readonly<Record<string, (pets: readonly Pet[]) => Send>> = {
  'a change of one pet':
    ([pet]) =>
    (client, headers, number) =>
      client.change(pet?.id ?? 0, { name: `${number}` }, headers),
  'a list of 100 pets by their ids': (pets) => {
    const path = `/v1/pets?id=${pets.map(({ id }) => id)}`
    return (client, headers) => client.request(path, { headers })
  },
}

async function expectShared(environment: Environment, kind: string, where: string): Promise<void> {
  const connections = { MAX_CONNECTIONS: '4000', MAX_CONNECTIONS_PER_ADDRESS: '3000' }
  const limits = { ...connections, MAX_IN_FLIGHT_PER_KEY: `${inFlight}` }
  const service = await startService({ ...environment, ...limits, API_KEYS: `${greedy},${modest},${apiKey}` })
  const pets = await createMany(new Client(service), 100)
  const { outcomes, passed, ms } = await besides(service, kinds[kind]?.(pets) ?? expect.fail(kind))
  const [passes, takes] = [passed, ms].map((sorted) => `${median(sorted)}, at most ${sorted.at(-1)}`)
  const figures = `of the others' were answered meanwhile ${passes}; milliseconds ${takes}`
  process.stdout.write(`${kind} among ${inFlight} of another owner, ${where}: ${[...outcomes]}; ${figures}\n`)
  expect([...outcomes]).toEqual(['200'])
  expect(median(passed)).toBeLessThan(passedMax)
}

describe('an owner is answered promptly where another one has 900 requests of the same kind in flight', () => {
  it.each(Object.keys(kinds))('%s, embedded', (kind) => expectShared({ DATA_DIR: temporaryFolder() }, kind, 'embedded'))

  describeWithBrokers('with brokers', (brokers) => {
    const kind = 'a change of one pet'
    it(kind, () => expectShared(brokerEnvironment(brokers), kind, 'on Kafka and Redis'))
  })
})
