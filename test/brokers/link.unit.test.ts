import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type Disturbance, Link } from './link.ts'

/** A server that answers each piece of data with `name`, and all that it heard. */
async function startServer(name = 'answer') {
  const heard: string[] = []
  const server: Server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (data) => {
      heard.push(String(data))
      socket.write(name)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  return { heard, port: (server.address() as AddressInfo).port }
}

async function connected(link: Link) {
  const socket: Socket = connect(link.port, '127.0.0.1')
  const answers: string[] = []
  const state = { isClosed: false }
  socket.on('data', (data) => answers.push(String(data)))
  socket.on('error', () => {})
  socket.on('close', () => {
    state.isClosed = true
  })
  await once(socket, 'connect')
  onTestFinished(() => void socket.destroy())
  return { socket, answers, state }
}

async function start() {
  const server = await startServer()
  const link = await Link.to(server.port)
  onTestFinished(() => link.close())
  return { ...server, link }
}

it('a link carries both ways, and to another server once it is turned', async () => {
  const { link, heard } = await start()
  const first = await connected(link)
  first.socket.write('a')
  await vi.waitFor(() => expect(first.answers).toEqual(['answer']))
  const other = await startServer('other')
  link.turnTo(other.port)
  await vi.waitFor(() => expect(first.state.isClosed).toBe(true))
  const second = await connected(link)
  second.socket.write('b')
  await vi.waitFor(() => expect(second.answers).toEqual(['other']))
  expect([heard, other.heard]).toEqual([['a'], ['b']])
})

it('a link that is cut closes connections, new ones too, until it is healed', async () => {
  const { link } = await start()
  const before = await connected(link)
  link.disturb({ kind: 'cut' })
  await vi.waitFor(() => expect(before.state.isClosed).toBe(true))
  const meanwhile = await connected(link)
  await vi.waitFor(() => expect(meanwhile.state.isClosed).toBe(true))
  link.heal()
  const after = await connected(link)
  after.socket.write('a')
  await vi.waitFor(() => expect(after.answers).toEqual(['answer']))
})

it.each<[string, Disturbance, readonly string[]]>([
  ['both ways', { kind: 'silence', there: true, back: true }, []],
  ['to the server', { kind: 'silence', there: true, back: false }, []],
  ['from the server', { kind: 'silence', there: false, back: true }, ['a']],
])('a link that is silent %s holds bytes back until it is healed', async (_, disturbance, heardMeanwhile) => {
  const { link, heard } = await start()
  const { socket, answers, state } = await connected(link)
  link.disturb(disturbance)
  socket.write('a')
  if (heardMeanwhile.length > 0) await vi.waitFor(() => expect(heard).toEqual(heardMeanwhile))
  const undisturbed = await start() // what is not held back arrives in the time that this takes
  const other = await connected(undisturbed.link)
  other.socket.write('b')
  await vi.waitFor(() => expect(other.answers).toEqual(['answer']))
  expect([heard, answers, state.isClosed]).toEqual([heardMeanwhile, [], false])
  link.heal()
  await vi.waitFor(() => expect([heard, answers]).toEqual([['a'], ['answer']]))
})

it.each<Disturbance>([
  { kind: 'delay', ms: 60_000 },
  { kind: 'slow bytes', bytesPerSecond: 0.001 },
])('a link with $kind lets through what waits as soon as it is healed', async (disturbance) => {
  const { link, heard } = await start()
  const { socket, answers } = await connected(link)
  link.disturb(disturbance)
  socket.write('a')
  await connected(link)
  expect(heard).toEqual([])
  link.heal()
  await vi.waitFor(() => expect(answers).toEqual(['answer']))
})
