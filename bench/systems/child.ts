import { join, resolve } from 'node:path'
import { listening, type Program, resultOf, runProgram } from '../../test/brokers/program.ts'
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
const endMs = 15_000

/** Starts a script that prints the URL it listens on; resolves once it has. It ends with `stack`. */
export async function startServer(
  stack: AsyncDisposableStack,
  script: string,
  options: ServerOptions = {},
): Promise<Server> {
  const program = startScript(stack, script, options)
  return { url: await listening(program), pid: program.pid, end: () => end(program) }
}

/** Runs a script until it, or `stack`, ends; resolves to what it printed. Throws unless its exit code is 0. */
export async function runScript(stack: AsyncDisposableStack, script: string, options: ServerOptions): Promise<string> {
  const program = startScript(stack, script, options)
  const { code, output, errors } = await resultOf(program)
  if (code !== 0) throw new Error(`${script} ended: ${output}${errors}`)
  return output
}

/** Detached: Ctrl-C reaches the benchmark alone, which then ends its servers in order. */
function startScript(
  stack: AsyncDisposableStack,
  script: string,
  { environment, arguments: args = [], root = here, node = [] }: ServerOptions,
): Program {
  const own = { NODE_ENV: 'production', PORT: '0', API_KEYS: apiKey, ...environment }
  const program = runProgram([process.execPath, ...node, resolve(root, script), ...args], own, { detached: true })
  stack.defer(() => end(program))
  return program
}

async function end(program: Program): Promise<void> {
  const impatience = setTimeout(() => program.end('SIGKILL'), endMs)
  await program.end('SIGTERM')
  clearTimeout(impatience)
}
