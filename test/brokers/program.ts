import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { endWithThisProcess } from './processes.ts'
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
  /** Ctrl-C in the terminal does not reach it. */
  readonly detached?: boolean
  readonly output?: Target
  readonly errors?: Target
}

/** Runs a command with these variables and no others. */
export function runProgram(
  [command = '', ...args]: readonly string[],
  environment: Environment,
  { detached = false, output = 'kept', errors = 'kept' }: ProgramOptions = {},
): Program {
  const { PATH } = process.env
  const targets = [output, errors]
  const [stdout, stderr] = targets.map((target) => (typeof target === 'number' ? target : 'pipe'))
  const child = spawn(command, args, { env: { PATH, ...environment }, stdio: ['ignore', stdout, stderr], detached })
  // A killed run of tests leaves no service behind.
  endWithThisProcess(child, detached ? undefined : `kill -CONT ${child.pid}; kill ${child.pid}`)
  const [said, told] = [child.stdout, child.stderr].map((stream, index) => {
    const chunks: Buffer[] = []
    if (targets[index] === 'closed') stream?.destroy()
    if (targets[index] === 'kept') stream?.on('data', (chunk: Buffer) => chunks.push(chunk))
    return () => Buffer.concat(chunks).toString()
  }) as [() => string, () => string]
  const running = () => child.exitCode === null && child.signalCode === null
  // What nobody reads is never closed.
  const isRead = !targets.includes('unread')
  const ended = once(child, isRead ? 'close' : 'exit').then(() => child.exitCode ?? child.signalCode)
  const signal = (name: NodeJS.Signals) => running() && child.kill(name)
  function end(name: 'SIGTERM' | 'SIGKILL') {
    signal(name)
    return ended
  }
  return { pid: child.pid as number, output: said, errors: told, running, ended, signal, end }
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
