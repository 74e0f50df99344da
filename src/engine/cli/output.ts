import { userInfo } from 'node:os'
import type { Command } from 'commander'

/** Exit codes of the process, for scripts. */
export const exitCodes = { notAsItShouldBe: 1, badUsage: 2, outOfReach: 3 } as const

/** What comes of a command: a value for scripts, and for people lines without the last line break, or nothing. */
export interface CommandResult {
  readonly json: unknown
  readonly text: string
}

/** What commands have in common: `--json`, and `--yes` where they ask first. */
export interface Options {
  readonly json?: boolean
  readonly yes?: boolean
}

/** Sets description and `--json`, and prints the outcome of `work`. */
export function addAction(
  command: Command,
  description: string,
  work: (...given: never[]) => CommandResult | Promise<CommandResult>,
): void {
  command.description(description).option('--json', 'print JSON')
  command.action(async (...given) => {
    const { json, text } = await work(...(given as never[]))
    if (command.opts().json) await print(JSON.stringify(json, undefined, 2))
    else if (text !== '') await print(text)
  })
}

/** Resolves to whether it was written. */
export function print(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(`${escaped(text)}\n`, (error) => resolve(error == null))
  })
}

/**
 * What is not printed ends no command, which may be changing something. Those who read standard output have seen enough
 * when they close it, as `head` does; otherwise the exit code tells that the output is not whole.
 */
export function outliveOutput(name: string): void {
  let isTold = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || isTold) return
    isTold = true
    process.stderr.write(`${name}: standard output cannot be written: ${message}\n`)
    process.once('exit', () => {
      process.exitCode ||= exitCodes.notAsItShouldBe
    })
  })
  process.stderr.on('error', () => {})
}

/**
 * What somebody else wrote, a name or an event, must not move the cursor of a terminal or turn the text round: control
 * characters but line breaks, and those of the bidirectional algorithm, are written as JSON would.
 */
export function escaped(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
  const special = /[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
  return text.replaceAll(special, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** As `escaped`, for text within a line: a line break would begin a row that nobody wrote. */
export function inOneLine(text: string): string {
  return escaped(text).replaceAll('\n', '\\u000a')
}

/** Who runs the command, for records of who did what: a user of the operating system. */
export function operator(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.()}` // one without a name, as in a container
  }
}

/** Columns are as wide as their widest cell. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(inOneLine))
  // Not spread into a call, which fails beyond some 100,000 arguments: others decide how many rows there are.
  const widths = header.map((title, column) =>
    cells.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), title.length),
  )
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return [header, ...cells].map((row) => line(row).trimEnd()).join('\n')
}
