import { say } from './progress.ts'

/**
 * Runs to the end, or until a signal tells this process to end; either way what is on the stack is ended before this
 * process is.
 */
export async function runToEnd(run: (stack: AsyncDisposableStack) => Promise<void>): Promise<never> {
  const stack = new AsyncDisposableStack()
  setInterval(() => {}, 60_000) // brokers that are being ended do not keep this process alive
  let code = 0
  try {
    await Promise.race([run(stack), interrupted()])
  } catch (error) {
    say(`failed: ${error instanceof Error ? error.message : error}`)
    code = 1
  }
  await stack.disposeAsync()
  process.exit(code)
}

function interrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Not once: libraries that clean up on exit end the process at once where no other listener is left
      process.on(signal, () => reject(new Error(`interrupted by ${signal}`)))
    }
  })
}
