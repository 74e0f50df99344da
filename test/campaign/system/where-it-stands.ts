import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { within } from '../../brokers/ready.ts'

const openedMs = 2000
const pausedMs = 2000

/** For `node`, so that a process can be asked where it stands. */
export const inspectable = '--inspect-port=127.0.0.1:0'

/** What a process does that does not end: its state, and its stack, also where it is busy without end. */
export async function whereItStands(pid: number, written: () => string): Promise<string> {
  const state = /^State:\s*(.*)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  const stack = await stackOf(pid, written).catch((error: unknown) => [`no stack: ${error}`])
  return [`state ${state}`, ...stack].join('\n    ')
}

/** The inspector answers on a thread of its own. */
async function stackOf(pid: number, written: () => string): Promise<string[]> {
  process.kill(pid, 'SIGUSR1')
  const address = () => /^Debugger listening on (ws:\S+)$/m.exec(written())?.[1]
  await within(openedMs, async () => address() !== undefined)
  const socket = new WebSocket(address() ?? '')
  await once(socket, 'open')
  const { promise: paused, resolve } = Promise.withResolvers<string[]>()
  socket.addEventListener('message', ({ data }) => {
    const { method, params } = JSON.parse(data)
    if (method === 'Debugger.paused') resolve(params.callFrames.map(frame))
  })
  for (const [id, method] of ['Debugger.enable', 'Debugger.pause'].entries())
    socket.send(JSON.stringify({ id, method }))
  const idle = AbortSignal.timeout(pausedMs)
  const nothing = once(idle, 'abort').then(() => ['it runs no JavaScript'])
  return await Promise.race([paused, nothing]).finally(() => socket.close())
}

interface Frame {
  readonly functionName: string
  readonly url: string
  readonly location: { readonly lineNumber: number }
}

function frame({ functionName, url, location }: Frame): string {
  return `at ${functionName || '(anonymous)'} ${url}:${location.lineNumber + 1}`
}
