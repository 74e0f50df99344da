import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import type { Environment } from './service-process.ts'

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

export interface Outcome {
  /** The exit code; -1 when a signal ended it. */
  readonly code: number
  /** What it wrote to standard output. */
  readonly output: string
  /** What it wrote to standard error. */
  readonly errors: string
}

/** A command that runs. */
export interface RunningPetstore {
  readonly pid: number
  /** What it wrote to standard error so far. */
  readonly errors: () => string
  readonly done: Promise<Outcome>
}

/** Runs the command line as an operator does, with the variables of the service. */
export function petstore(environment: Environment, ...args: string[]): Promise<Outcome> {
  return startPetstore(environment, ...args).done
}

/** As `petstore`, for a command that something is done to while it runs. It ends with the test. */
export function startPetstore(environment: Environment, ...args: string[]): RunningPetstore {
  const { PATH } = process.env
  const child = spawn(process.execPath, [cli, ...args], {
    env: { PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = [child.stdout, child.stderr].map((stream) => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    return () => Buffer.concat(chunks).toString()
  }) as [() => string, () => string]
  const done = once(child, 'close').then(() => ({ code: child.exitCode ?? -1, output: output(), errors: errors() }))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await done
  })
  return { pid: child.pid as number, errors, done }
}

const healedWithinMs = 30_000

/** Within 30 s, by themselves, the read models are what the log says, in everything: comparing may take longer. */
export async function expectVerified(environment: Environment): Promise<void> {
  const deadline = performance.now() + healedWithinMs
  for (;;) {
    const isLast = performance.now() > deadline
    const { code, output, errors } = await petstore(environment, 'verify', '--json')
    if (code === 0 || isLast) {
      expect(code, `${output}${linesOfLog(errors).join('\n')}`).toBe(0)
      expect(JSON.parse(output).differences).toEqual([])
      return
    }
  }
}

/** Without the lines that tell of progress. */
function linesOfLog(errors: string): string[] {
  return errors.split('\n').filter((line) => line !== '' && !line.startsWith('{"step":'))
}
