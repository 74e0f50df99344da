import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { until } from '../../test/brokers/ready.ts'
import { apiKey } from '../load/load.ts'

/** A server as a process of its own. */
export interface Server {
  readonly url: string
  readonly pid: number
  /** Ends it in order; resolves once it is gone. */
  end(): Promise<void>
}

export interface ServerOptions {
  readonly environment?: Readonly<Record<string, string>>
  readonly arguments?: readonly string[]
  /** The checkout that the script is in; by default this one. */
  readonly root?: string
  /** Options of Node itself. */
  readonly node?: readonly string[]
}

const here = join(import.meta.dirname, '../..')
const startMs = 60_000
const endMs = 15_000

/** Starts a script that prints the URL it listens on; resolves once it has. It ends with `stack`. */
export async function startServer(
  stack: AsyncDisposableStack,
  script: string,
  options: ServerOptions = {},
): Promise<Server> {
  const { child, output } = spawnServer(stack, script, options)
  let url: string | undefined
  await until(`${script} listens`, startMs, async () => {
    if (!isRunning(child)) throw new Error(`${script} ended: ${output()}`)
    url = /(http:\/\/127\.0\.0\.1:\d+)/.exec(output())?.[1]
    return url !== undefined
  })
  return { url: url ?? '', pid: child.pid ?? 0, end: () => end(child) }
}

/** Runs a script until it, or `stack`, ends; resolves to what it printed. Throws unless its exit code is 0. */
export async function runScript(
  stack: AsyncDisposableStack,
  script: string,
  options: ServerOptions = {},
): Promise<string> {
  const { child, output } = spawnServer(stack, script, options)
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${script} ended: ${output()}`)
  return output()
}

function spawnServer(
  stack: AsyncDisposableStack,
  script: string,
  { environment, arguments: args = [], root = here, node = [] }: ServerOptions,
) {
  const path = resolve(root, script)
  const { PATH } = process.env
  const child = spawn(process.execPath, [...node, path, ...args], {
    env: { PATH, NODE_ENV: 'production', PORT: '0', API_KEYS: apiKey, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // Ctrl-C in the terminal reaches the benchmark alone, which then ends its servers in order
  })
  stack.defer(() => end(child))
  const chunks: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk))
  return { child, output: () => Buffer.concat(chunks).toString() }
}

async function end(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const impatience = setTimeout(() => child.kill('SIGKILL'), endMs)
  await gone
  clearTimeout(impatience)
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}
