import { connect } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { eventually } from '../../lib/eventually.ts'
import { metricsOf } from '../app/metrics-of.ts'
import { authorization, openServer, theatreServices } from './test-services.ts'

let server: Awaited<ReturnType<typeof openServer>>
let url: string
beforeEach(async () => {
  server = await openServer(theatreServices())
  url = `http://127.0.0.1:${await server.listen()}`
})
afterEach(async () => {
  server.app.server.closeAllConnections()
  await server.app.close()
})

const headers = { authorization }
const request = async (path: string, method = 'GET') => (await fetch(url + path, { method, headers })).text()

async function lines(): Promise<string[]> {
  const { traffic } = server.services
  return (await metricsOf({ traffic }).text()).split('\n')
}

/** Waits, as a response is closed a little after its client has it. */
async function expectLine(line: string): Promise<void> {
  await eventually(async () => expect(await lines()).toContain(line))
}

it('requests count by the pattern of their route, by method and status', async () => {
  for (const id of [7, 8]) await request(`/v1/seats/${id}`)
  await request('/v1/seats')
  await request('/v1/seats', 'HEAD')
  await expectLine('theatre_http_requests_total{route="/v1/seats/:seatId",method="GET",status="404"} 2')
  await expectLine('theatre_http_requests_total{route="/v1/seats",method="GET",status="200"} 1')
  await expectLine('theatre_http_requests_total{route="/v1/seats",method="HEAD",status="200"} 1')
  await expectLine('theatre_http_request_duration_seconds_count{route="/v1/seats/:seatId",method="GET"} 2')
  await expectLine('theatre_http_request_duration_seconds_bucket{route="/v1/seats/:seatId",method="GET",le="+Inf"} 2')
  await expectLine('theatre_http_refusals_total{code="seat_not_found"} 2')
  await expectLine('theatre_http_requests_in_flight 0')
})

it('paths without a route, and those that cannot be read, share one label', async () => {
  for (const path of ['/nothing', '/v1/nothing', '/v1/seats/', '/%ZZ']) await request(path)
  await expectLine('theatre_http_requests_total{route="unknown",method="GET",status="404"} 3')
  await expectLine('theatre_http_requests_total{route="unknown",method="GET",status="400"} 1')
})

it('refusals count before there is a request, too', async () => {
  await send('no HTTP\r\n\r\n')
  await send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
  await expectLine('theatre_http_refusals_total{code="invalid_request"} 1')
  await expectLine('theatre_http_refusals_total{code="method_not_allowed"} 1')
})

it('a request is in flight until it is answered, or its client has gone', async () => {
  const { promise, resolve: end } = Promise.withResolvers<void>()
  const begun = vi.fn(() => promise)
  server.services.beforeRead = begun
  const leaves = new AbortController()
  const answers = [request('/v1/seats'), fetch(`${url}/v1/seats`, { headers, signal: leaves.signal })]
  await eventually(() => expect(begun).toHaveBeenCalledTimes(2))
  await expectLine('theatre_http_requests_in_flight 2')
  leaves.abort()
  await expect(answers[1]).rejects.toThrow()
  await expectLine('theatre_http_requests_total{route="/v1/seats",method="GET",status="499"} 1')
  await expectLine('theatre_http_requests_in_flight 1')
  end()
  await answers[0]
  await expectLine('theatre_http_requests_in_flight 0')
})

it('answers without an end have no duration', async () => {
  await request('/v1/events?type=none')
  await expectLine('theatre_http_requests_total{route="/v1/events",method="GET",status="400"} 1')
  expect((await lines()).join('\n')).not.toMatch(/duration_seconds_\w+\{route="\/v1\/events"/)
})

async function send(bytes: string): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes))
  socket.on('error', () => {}) // `close` follows
  await new Promise((resolve) => socket.on('close', resolve).resume())
}
