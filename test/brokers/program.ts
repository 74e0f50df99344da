import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { endWithThisProcess } from './processes.ts'

export type Environment = Readonly<Record<string, string>>

/** A program of the project as a process of its own, as an operator runs it. */
export interface Program {
  readonly pid: number
  /** What it wrote to standard output so far. */
  readonly output: () => string
  /** What it wrote to standard error so far. */
  readonly errors: () => string
  readonly running: () => boolean
  /** Resolves to the exit code, or to the signal that ended it, once it is gone. */
  readonly ended: Promise<number | string | null>
  /** Sends the signal; resolves as `ended` does. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null>
}

/** Runs a command with these variables and no others. `detached`: Ctrl-C in the terminal does not reach it. */
export function runProgram(
  [command = '', ...args]: readonly string[],
  environment: Environment,
  { detached = false } = {},
): Program {
  const { PATH } = process.env
  const child = spawn(command, args, { env: { PATH, ...environment }, stdio: ['ignore', 'pipe', 'pipe'], detached })
  endWithThisProcess(child, `kill -CONT ${child.pid}; kill ${child.pid}`) // a killed run of tests leaves no service behind
  const [output, errors] = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    return () => Buffer.concat(chunks).toString()
  }) as [() => string, () => string]
  const running = () => child.exitCode === null && child.signalCode === null
  const ended = once(child, 'close').then(() => child.exitCode ?? child.signalCode)
  function end(signal: 'SIGTERM' | 'SIGKILL') {
    if (running()) child.kill(signal)
    return ended
  }
  return { pid: child.pid as number, output, errors, running, ended, end }
}
