import { execFileSync, type StdioOptions } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'

/** npm runs on the Node that this process runs on: another one packs other bytes, as its zlib is another. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}` }
/** Standard output has only what is left to do. */
const errorOutput = 2
const outputMax = 64 * 1024 ** 2

/** Runs a command whose output is shown. Throws unless it succeeds. */
export function run(folder: string, [command = '', ...args]: readonly string[]): void {
  execFileSync(command, args, { cwd: folder, env, stdio: ['ignore', errorOutput, errorOutput] })
}

/** What a command prints. Throws, with what it says of errors, unless it succeeds. */
export function outputOf(folder: string, [command = '', ...args]: readonly string[]): string {
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe']
  return execFileSync(command, args, { cwd: folder, env, encoding: 'utf8', maxBuffer: outputMax, stdio })
}

/** Without the end of the last line. */
export function git(folder: string, ...args: string[]): string {
  return outputOf(folder, ['git', '-c', 'safe.directory=*', ...args]).trimEnd()
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

export function sha256OfFile(path: string): string {
  return sha256(readFileSync(path))
}

export function readJson(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'))
}
