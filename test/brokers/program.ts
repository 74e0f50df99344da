import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from './ready.ts'

const listeningMs = 60_000

export type Environment = Readonly<Record<string, string>>

/** Where a stream of a program goes to: it is kept; lost, as its reader has gone or stands still; or in an open file. */
export type Target = 'kept' | 'closed' | 'unread' | number

/** A program of the project as a process of its own, as an operator runs it. */
export interface Program {
  readonly pid: number
  /** What it wrote to standard output so far, where that is kept. */
  readonly output: () => string
  /** What it wrote to standard error so far, where that is kept. */
  readonly errors: () => string
  readonly running: () => boolean
  /** Resolves to the exit code, or to the signal that ended it, once it is gone. */
  readonly ended: Promise<number | string | null>
  /** Sends the signal, if it runs; whether it does. */
  signal(signal: NodeJS.Signals): boolean
  /** Sends the signal; resolves as `ended` does. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null>
}

export interface ProgramOptions {
  /** A group of its own: Ctrl-C in the terminal reaches this process alone, which then ends it in order. */
  readonly detached?: boolean
  /** Whether this process goes on for as long as it runs. */
  readonly isAwaited?: boolean
  /** Where it runs. */
  readonly folder?: string
  readonly output?: Target
  readonly errors?: Target
}

/** Runs a command with these variables and no others. */
export function runProgram(
  [command = '', ...args]: readonly string[],
  environment: Environment,
  { detached = false, isAwaited = true, folder, output = 'kept', errors = 'kept' }: ProgramOptions = {},
): Program {
  const { PATH } = process.env
  const targets = [output, errors]
  const [stdout, stderr] = targets.map((target) => (typeof target === 'number' ? target : 'pipe'))
  const options = { env: { PATH, ...environment }, cwd: folder, detached }
  const child = spawn(command, args, { ...options, stdio: ['ignore', stdout, stderr] })
  if (!isAwaited) child.unref()
  // A killed run of tests leaves no service behind.
  endWithThisProcess(child, detached ? undefined : `kill -CONT ${child.pid}; kill ${child.pid}`)
  const [said, told] = [child.stdout, child.stderr].map((stream, index) => {
    const chunks: Buffer[] = []
    if (targets[index] === 'closed') stream?.destroy()
    if (targets[index] === 'kept') stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
    return () => Buffer.concat(chunks).toString()
  }) as [() => string, () => string]
  const running = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null
  // What nobody reads is never closed.
  const isRead = !targets.includes('unread')
  const ended = once(child, isRead ? 'close' : 'exit').then(() => child.exitCode ?? child.signalCode)
  const signal = (name: NodeJS.Signals) =>
    running() && (detached ? process.kill(-Number(child.pid), name) : child.kill(name))
  function end(name: 'SIGTERM' | 'SIGKILL') {
    child.ref() // or this process may end before
    signal(name)
    return ended
  }
  return { pid: child.pid as number, output: said, errors: told, running, ended, signal, end }
}

/**
 * Ends the child however this process ends, kill -9 included: the guard's standard input closes with this process. The
 * child is a group of its own, unless something else ends it.
 */
function endWithThisProcess(child: ChildProcess, end = `kill -9 -${child.pid}`): void {
  if (child.pid === undefined) return
  const guard = spawn('sh', ['-c', `read _; ${end}`], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  guard.unref()
  child.once('exit', () => guard.kill('SIGKILL'))
}

/** How a program ended, and all that it wrote. */
export interface Result {
  readonly code: number | string | null
  readonly output: string
  readonly errors: string
}

export async function resultOf({ ended, output, errors }: Program): Promise<Result> {
  return { code: await ended, output: output(), errors: errors() }
}

/** Resolves to where a program says that it listens. Throws what it printed if it ends before. */
export async function listening(program: Program): Promise<string> {
  let url: string | undefined
  await until('the program listens', listeningMs, async () => {
    const printed = program.output() + program.errors()
    if (!program.running()) throw new Error(`it ended before it listened: ${printed}`)
    url = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
    return url !== undefined
  })
  return url ?? ''
}
