import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { ConfigError } from '../app/variables.ts'
import type { Options } from './output.ts'

/** Adds `--yes` to a command that cannot be undone, for those who do not want to be asked. */
export function asksFirst(command: Command): Command {
  return command.option('--yes', 'do it without being asked')
}

/** Throws unless whoever runs the command agrees. Where nobody can be asked, `--yes` has to say so. */
export async function confirm(what: string, { yes = false }: Options): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new ConfigError(`${what} This cannot be undone: add --yes to do it.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${what} This cannot be undone. Go on? [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('Nothing was done.')
}
