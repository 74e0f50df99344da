import { connect } from 'node:net'
import { beforeAll, expect, it } from 'vitest'
import { bearer, head, receiveAll } from './raw.ts'
import { testServer } from './test-services.ts'

const server = testServer()
let port: number

beforeAll(async () => {
  port = await server.listen()
})

it.each([
  ['/v1/seats', 'POST'],
  ['/v1/bookings', 'POST'],
  ['/v1/bookings/1', 'PATCH'],
])('a body for %s is not asked for where it would be refused', async (path, method) => {
  server.services.scopes = new Set(['read'])
  const socket = connect(port, '127.0.0.1')
  const headers = [bearer, 'Content-Type: application/json', 'Content-Length: 9', 'Expect: 100-continue']
  socket.write(head(`${method} ${path} HTTP/1.1`, ...headers))
  expect(await receiveAll(socket)).toMatch(/^HTTP\/1.1 403 /)
})
