import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Sends bytes as they are and gives all that comes back until the server closes the connection. */
export async function exchange(port: number, ...parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const received = receiveAll(socket)
  for (const part of parts) socket.write(part)
  return received
}

/** Everything that the socket receives until it closes. */
export async function receiveAll(socket: Socket): Promise<string> {
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => {}) // a reset is a close
  await once(socket, 'close')
  return received
}

/** The responses in a stream of them, each as its status and body. */
export function readResponses(text: string): { status: number; headers: Record<string, string>; body: string }[] {
  const responses = []
  for (let rest = text; rest !== ''; ) {
    const headEnd = rest.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    )
    const bytes = Buffer.from(rest.slice(headEnd + 4))
    const length = Number(headers['content-length'])
    responses.push({ status: Number(statusLine.split(' ')[1]), headers, body: bytes.subarray(0, length).toString() })
    rest = bytes.subarray(length).toString()
  }
  return responses
}
