/**
 * `npm run generators [-- word…]`: makes a client of the document with each tool, or with those whose names have one of the
 * words; compiles it; and has it run its scenario against a service on this machine. `--most-used` are those that CI tries,
 * `--document FILE` is another document than that of the service. Prints a table, and exits with 1 if anything failed.
 */
import { exec } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { listening, runProgram } from '../brokers/program.ts'
import { startLaterRelease } from './later-release.ts'
import { type Download, downloads, mostUsed, type Tool, tools } from './tools.ts'

const steps = ['generate', 'compile', 'work', 'work later'] as const
type Result = Record<(typeof steps)[number], 'yes' | 'no' | '-'>

const execute = promisify(exec)
const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: { document: { type: 'string' }, 'most-used': { type: 'boolean', default: false } },
})
const chosen = (values['most-used'] ? mostUsed : tools).filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
)
const minutesMax = 10
const shownMax = 4000 // characters
const atOnceMax = Math.min(3, availableParallelism())
const key = 'the-key-of-the-generated-clients'
const source = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const say = (line: string) => process.stdout.write(`${line}\n`)

const folder = mkdtempSync(join(tmpdir(), 'petstore-generators-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const service = runProgram([process.execPath, source('../../src/main.ts')], {
  PORT: '0',
  API_KEYS: key,
  DATA_DIR: join(folder, 'data'),
})
process.once('exit', () => service.end('SIGKILL'))
const url = await listening(service)
const later = await startLaterRelease(url)
const environment = {
  ...process.env,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  PETSTORE_URL: url,
  PETSTORE_KEY: key,
}

cpSync(source('.'), folder, { recursive: true, filter: (path) => !path.endsWith('/node_modules') })
for (const file of ['petstore.ts', 'generate.ts']) cpSync(source(`../../examples/client/${file}`), join(folder, file))
cpSync(values.document ?? (await download()), join(folder, 'openapi.json'))

const downloaded = new Map<Download, Promise<string | undefined>>()
const results = new Map<Tool, Result>()
const waiting = [...chosen]
await Promise.all(Array.from({ length: atOnceMax }, tryNext))
for (const line of table()) say(line)
const failed = [...results.values()].some((result) => Object.values(result).includes('no'))
await service.end('SIGTERM')
process.exit(failed || results.size === 0 ? 1 : 0)

async function download(): Promise<string> {
  const path = join(folder, 'served.json')
  writeFileSync(path, await (await fetch(`${url}/openapi.json`)).text())
  return path
}

async function tryNext(): Promise<void> {
  for (let tool = waiting.shift(); tool !== undefined; tool = waiting.shift()) results.set(tool, await tryOut(tool))
}

/** A step behind one that failed is not tried. */
async function tryOut(tool: Tool): Promise<Result> {
  const result: Result = { generate: '-', compile: '-', work: '-', 'work later': '-' }
  const missing = (await Promise.all(tool.needs.map(fetched))).find((problem) => problem !== undefined)
  for (const step of steps) {
    const command = step === 'work later' ? tool.work : tool[step]
    if (command === undefined) continue
    const began = performance.now()
    const env = step === 'work later' ? { ...environment, PETSTORE_URL: later } : environment
    const problem = missing ?? (await problemOf(command, join(folder, tool.folder), env))
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    result[step] = problem === undefined ? 'yes' : 'no'
    say(`${tool.name}: ${step} ${problem === undefined ? 'done' : 'FAILED'} in ${seconds} s${problem ?? ''}`)
    if (problem !== undefined) break
  }
  return result
}

function fetched(name: Download): Promise<string | undefined> {
  const begun = downloaded.get(name) ?? problemOf(downloads[name], folder)
  downloaded.set(name, begun)
  return begun
}

/** What the command says if it fails. */
async function problemOf(
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv = environment,
): Promise<string | undefined> {
  try {
    const limits = { timeout: minutesMax * 60_000, maxBuffer: 64 * 1024 * 1024 }
    await execute(`set -o pipefail; ${command}`, { cwd, env, shell: '/bin/bash', ...limits })
    return undefined
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string }
    return `\n${command}\n${`${stdout}${stderr}`.slice(-shownMax) || String(error)}`
  }
}

function* table() {
  yield '| tool | version | generates | compiles | works | works with a later release |\n|---|---|---|---|---|---|'
  for (const tool of chosen) {
    yield `| ${[tool.name, tool.version, ...steps.map((step) => results.get(tool)?.[step])].join(' | ')} |`
  }
}
