import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { apiKey, Client, createMany, inParallel } from '../e2e/client.ts'
import { brokerEnvironment, type Environment, expectVerified, startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { type Answer, endless, KeepAliveClient } from './keep-alive-client.ts'
import { type OpenApi, type RandomRequest, randomRequests } from './random-requests.ts'

const total = 20_000
const batch = 5000
const connections = 32

/** Sends random requests, and expects of each answer that the document has it, and that it is no fault of the service. */
async function expectDocumented(environment: Environment): Promise<void> {
  const service = await startService(environment)
  const document = (await new Client(service).request('/openapi.json')).body as OpenApi
  const isDocumented = answerCheck(document)
  const requestsFor = randomRequests(document, await makeSome(new Client(service)))
  const client = new KeepAliveClient(service.url, apiKey, connections)
  const counts = new Map<string, number>()
  const seed = Date.now() % 1_000_000_000
  for (let done = 0; done < total; done += batch) {
    const requests = fc.sample(requestsFor, { seed: seed + done, numRuns: batch })
    const answers = await inParallel(batch, connections, (i) => send(client, requests[i] as RandomRequest))
    for (const [i, answer] of answers.entries()) {
      const { operation, ...sent } = requests[i] as RandomRequest
      const problem = isDocumented(operation, answer)
      expect(problem && { seed: seed + done, problem, sent, answer }).toBeUndefined()
      const label = `${sent.method} ${answer.status}`
      counts.set(label, (counts.get(label) ?? 0) + 1)
    }
  }
  client.close()
  // A check that never got past the doors would prove little. The rarest, PATCH 409, comes some 40 times, and by chance half as often.
  for (const label of [
    'GET 200',
    'GET 404',
    'POST 201',
    'POST 400',
    'POST 409',
    'POST 422',
    'PATCH 200',
    'PATCH 409',
  ]) {
    expect({ seed, label, count: counts.get(label) ?? 0 }).toEqual({
      seed,
      label,
      count: expect.toSatisfy((n) => n > 5),
    })
  }
  expect(problemsIn(service.output())).toEqual([])
  await expectVerified(environment)
}

/** The errors that were logged. A projector that a busy machine keeps waiting logs that too; it goes on, or nothing is verified. */
function problemsIn(output: string): string[] {
  const errors = output.split('\n').filter((line) => /"level":[56]0/.test(line))
  return errors.filter((line) => !line.includes('projector is waiting'))
}

/** Pets and orders; resolves to their ids. */
async function makeSome(client: Client): Promise<number[]> {
  const pets = await createMany(client, 40)
  const orders = await Promise.all(
    pets.filter(({ status }) => status === 'available').map(({ id }) => client.order(id)),
  )
  return [...pets, ...orders].map(({ id }) => id)
}

/** What is wrong with an answer, if anything is. */
function answerCheck(document: OpenApi) {
  const ajv = new Ajv2020({ strict: false, formats: { int64: true, 'date-time': true, 'well-formed': true } })
  const checks = new Map<string, ReturnType<typeof ajv.compile>>()
  return ({ responses }: RandomRequest['operation'], { status, type, text }: Answer): string | undefined => {
    const known = responses[status] ?? (status < 500 ? responses.default : undefined)
    if (status >= 500 || known === undefined) return `${status} is not to be expected`
    if (type === endless && known.content?.[endless] !== undefined) return undefined
    const schema = known.content?.['application/json']?.schema
    if (schema === undefined) return text === '' ? undefined : 'there is a body'
    if (type !== 'application/json; charset=utf-8') return `the type is ${type}`
    const name = JSON.stringify(schema)
    const { components } = document
    const check = checks.get(name) ?? ajv.compile({ ...schema, components })
    checks.set(name, check)
    return check(JSON.parse(text)) ? undefined : ajv.errorsText(check.errors)
  }
}

async function send(client: KeepAliveClient, { method, path, headers, body }: RandomRequest): Promise<Answer> {
  try {
    return await client.send({ method, path, headers, body })
  } catch (cause) {
    throw new Error(`${method} ${path}: ${(cause as Error).message}`, { cause })
  }
}

it('20,000 random requests get answers of the document, embedded', async () => {
  await expectDocumented({ DATA_DIR: temporaryFolder() })
})

describeWithBrokers('on Kafka and Redis', (brokers) => {
  it('20,000 random requests get answers of the document', async () => {
    await expectDocumented(brokerEnvironment(brokers))
  })
})
