import { type Command, InvalidArgumentError } from 'commander'

/** Options of every benchmark that runs in rounds. */
export interface MeasureOptions {
  readonly seconds: number
  readonly rounds: number
  readonly json: boolean
}

export interface Options extends MeasureOptions {
  readonly embedded: boolean
}

/** `turns` names the systems in turn, for the help text. */
export function withRounds(command: Command, turns: string): Command {
  return command
    .option('--seconds <n>', 'length of a round', count, 3)
    .option('--rounds <n>', `rounds of each system, in turn: ${turns}`, count, 5)
    .option('--json', 'print every round as JSON instead of tables', false)
}

export function withEmbedded(command: Command): Command {
  return command.option('--no-embedded', 'leave out the second table, for embedded mode')
}

export function count(text: string): number {
  return wholeNumber(text, 1, 999_999)
}

export function wholeNumber(text: string, least: number, most: number): number {
  const number = Number(text)
  if (/^\d+$/.test(text) && number >= least && number <= most) return number
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
}

/** Progress messages go to standard error: standard output has only the figures. */
export function say(what: string): void {
  process.stderr.write(`bench: ${what}\n`)
}

export function printJson(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`)
}

/** Runs to the end, or until a signal ends this process. Either way everything on the stack ends first. */
export async function runToEnd(run: (stack: AsyncDisposableStack) => Promise<void>): Promise<never> {
  const stack = new AsyncDisposableStack()
  setInterval(() => {}, 60_000) // brokers that are shutting down do not keep this process alive
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
