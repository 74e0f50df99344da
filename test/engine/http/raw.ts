import type { Socket } from 'node:net'
import { authorization } from './test-services.ts'

/** The head of a request, as bytes. */
export const head = (line: string, ...headers: string[]) => [line, 'Host: a', ...headers, '', ''].join('\r\n')
export const bearer = `Authorization: ${authorization}`
export const list = head('GET /v1/seats HTTP/1.1', bearer)

/** Also if it is reset, which `once` of node:events takes for a failure. */
export const whenClosed = (socket: Socket) =>
  new Promise<void>((resolve) => socket.on('error', () => {}).once('close', () => resolve()))

/** All that the socket receives until it closes. */
export async function receiveAll(socket: Socket): Promise<string> {
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.resume()
  await whenClosed(socket)
  return received
}

export const statusesIn = (answers: string) =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
