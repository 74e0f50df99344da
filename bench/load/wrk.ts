import { execFile } from 'node:child_process'
import { mkdtempDisposableSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { autocannon } from './autocannon.ts'
import { headersOf, type Load, type LoadClient, type Round, type RoundOptions, refuseErrors } from './load.ts'

const script = join(import.meta.dirname, 'wrk.lua')
/**
 * The timeout of autocannon. wrk's own 2 s are too short if a disk syncs for each request of 256 connections. A slower
 * answer counts as a failure, and is not part of the latencies.
 */
const timeout = '10s'
const execute = promisify(execFile)

/** wrk, with one thread unless there are several servers: it needs the least of the cores that it shares. */
export const wrk: LoadClient = {
  name: 'wrk',
  async run({ url, urls = [url], load, connections, seconds }) {
    using folder = mkdtempDisposableSync(join(tmpdir(), 'petstore-bench-wrk-'))
    const pathsFile = join(folder.path, 'paths')
    const { paths, bodies } = load
    const lines = bodies === undefined ? paths : paths.map((path, i) => `${path}\t${bodies[i]}`)
    writeFileSync(pathsFile, lines.map((line) => `${line}\n`).join(''))
    const env = { ...process.env, WRK_PORTS: urls.map((each) => new URL(each).port).join(' ') }
    const { stdout } = await execute('wrk', wrkArguments({ url, urls, load, connections, seconds }, pathsFile), { env })
    return readReport(stdout, url, load)
  },
}

export async function findClient(): Promise<LoadClient> {
  return (await wrkIsThere()) ? wrk : autocannon
}

export async function wrkIsThere(): Promise<boolean> {
  try {
    await execute('wrk', ['--version'])
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' // it prints its version and exits with 1
  }
  return true
}

function wrkArguments({ url, urls = [url], load, connections, seconds }: RoundOptions, pathsFile: string): string[] {
  const { method, body } = load
  const headers = Object.entries(headersOf(load)).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const size = ['-t', String(urls.length), '-c', String(connections), '-d', `${seconds}s`, '--timeout', timeout]
  return [...size, ...headers, '-s', script, url, '--', method, pathsFile, ...(body === undefined ? [] : [body])]
}

interface Report {
  readonly requests: number
  readonly microseconds: number
  /** Microseconds. */
  readonly p50: number
  readonly p99: number
  readonly errors: Readonly<Record<string, number>>
}

function readReport(output: string, url: string, load: Load): Round {
  const json = output.split('\n').find((line) => line.startsWith('{'))
  if (json === undefined) throw new Error(`wrk printed no report: ${output}`)
  const { requests, microseconds, p50, p99, errors }: Report = JSON.parse(json)
  refuseErrors(url, load, errors)
  return { requestsPerSecond: requests / (microseconds / 1e6), p50: p50 / 1000, p99: p99 / 1000 }
}
