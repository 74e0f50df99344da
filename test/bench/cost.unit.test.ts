import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { bare, costOf, costTables, estimate, ratioOf, type Start } from '../../bench/cost/report.ts'
import { petCount, Requests } from '../../bench/cost/requests.ts'
import { CountedClient } from '../../bench/load/counted.ts'
import { cpuTime } from '../../bench/systems/cpu-time.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('an estimate', () => {
  it('has the middle one of its figures, or the mean of the two', () => {
    expect(estimate([3, 1, 2]).median).toBe(2)
    expect(estimate([4, 1, 2, 3]).median).toBe(2.5)
  })

  // The ranks of the interval for a median, as tables of order statistics have them.
  it.each([
    [5, 1, 5],
    [6, 1, 6],
    [8, 1, 8],
    [9, 2, 8],
    [12, 3, 10],
    [20, 6, 15],
    [50, 18, 33],
  ])('of %i figures reaches from the one of rank %i to that of rank %i', (count, low, high) => {
    expect(estimate(upTo(count).reverse())).toMatchObject({ low, high })
  })
})

describe('the report of costs', () => {
  const start = (factor: number): Start => ({
    [bare]: [{ 'GET by id': 10, POST: 20 }],
    now: [{ 'GET by id': 30 * factor, POST: 90 }],
    before: [{ 'GET by id': 20 }],
  })

  it('takes the rounds of one start for one figure', () => {
    const rounds = [{ POST: 1 }, { POST: 2 }, { POST: 90 }]
    expect(costOf([{ now: rounds }, { now: rounds }], 'now', 'POST')).toEqual({ median: 2, low: 2, high: 2 })
  })

  it('compares the rounds that followed one another', () => {
    const starts = [{ now: [{ POST: 2 }, { POST: 30 }], before: [{ POST: 1 }, { POST: 15 }] }]
    expect(ratioOf(starts, 'now', 'before', ['POST'])).toEqual({ median: 2, low: 2, high: 2 })
  })

  it('has nothing for a request that one of the two does not know', () => {
    expect(ratioOf([start(1)], 'now', 'before', ['POST'])).toBeUndefined()
  })

  it('shows costs, their ratios to the bare server, and to the other checkouts', () => {
    const lines = costTables([start(1), start(2)], ['now', 'before'])
      .split('\n')
      .map((line) => line.split('|').map((cell) => cell.trim()))
    const cells = Object.fromEntries(lines.map(([, title = '', byId, , add]) => [title, [byId, add]]))
    expect(cells).toMatchObject({
      'bare Fastify': ['10.0 (10.0-10.0)', '20.0 (20.0-20.0)'],
      now: ['45.0 (30.0-60.0)', '90.0 (90.0-90.0)'],
      'now, to bare': ['4.50 (3.00-6.00)', '4.50 (4.50-4.50)'],
      'before, to bare': ['2.00 (2.00-2.00)', ''],
      'now, to before': ['2.250 (1.500-3.000)', ''],
    })
  })
})

describe('the requests that are measured', () => {
  it('change every pet to a name that it does not have, and use each key once', () => {
    const requests = new Requests()
    for (const pet of upTo(petCount)) requests.added(`/v1/pets/${pet}`)
    const sent = [...requests.take('PATCH', 2 * petCount), ...requests.take('POST with key', 3)]
    expect(new Set(sent.map(({ path, body, headers }) => JSON.stringify([path, body, headers]))).size).toBe(sent.length)
  })

  it('order each pet that was added beyond those that are read, once', () => {
    const requests = new Requests()
    for (const pet of upTo(petCount + 3)) requests.added(`/v1/pets/${pet}`)
    const bodies = requests.take('placeOrder', 9).map(({ body }) => body)
    expect(bodies).toEqual([1, 2, 3].map((pet) => JSON.stringify({ petId: petCount + pet })))
    expect(requests.take('placeOrder', 9)).toEqual([])
  })
})

describe('a client that counts', () => {
  it('sends exactly what it is given, and has the answers in that order', async () => {
    const received: (string | undefined)[] = []
    const server = createServer((request, response) => {
      received.push(request.url)
      if (request.method === 'PATCH') response.writeHead(204).end()
      else response.writeHead(201, { location: `${request.url}/1`, 'content-length': 2 }).end('{}')
    }).listen(0, '127.0.0.1')
    await using stack = new AsyncDisposableStack()
    stack.defer(() => void server.close())
    await once(server, 'listening')
    const client = await CountedClient.open(stack, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, 2)
    const paths = upTo(9).map((number) => `/${number}`)
    const answers = await client.send(paths.map((path, index) => ({ method: index === 4 ? 'PATCH' : 'POST', path })))
    expect(received.toSorted()).toEqual(paths)
    expect(answers).toEqual(
      paths.map((path, index) =>
        index === 4 ? { status: 204, location: undefined } : { status: 201, location: `${path}/1` },
      ),
    )
  })
})

it.runIf(process.platform === 'linux')('the CPU time of a process is what the process itself takes it for', () => {
  const [before, ownBefore] = [cpuTime(process.pid), process.cpuUsage()]
  while (process.cpuUsage(ownBefore).user < 50_000) JSON.stringify(ownBefore)
  const { user, system } = process.cpuUsage(ownBefore)
  expect(cpuTime(process.pid) - before).toBeGreaterThan(0.5 * (user + system))
})
