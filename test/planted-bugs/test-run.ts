import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TestName } from './bug.ts'
import type { Checkout } from './checkout.ts'

/** The part of Vitest's JSON report that is read here. */
interface Report {
  readonly numPassedTests: number
  readonly success: boolean
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly {
      readonly title: string
      readonly status: string
      readonly duration?: number | null
      readonly failureMessages?: readonly string[] | null
    }[]
  }[]
}

/** Vitest ended without a report. */
const nothing: Report = { numPassedTests: 0, success: false, testResults: [] }

export interface Asked {
  readonly project: 'unit' | 'int'
  readonly files: readonly string[]
  /** Only tests with these titles; without it all tests of the files. */
  readonly titles?: readonly string[]
  /** Besides the variables of this process. */
  readonly env?: Readonly<Record<string, string>>
}

const limitMs = 120_000

/** Runs tests of a copy of the checkout. */
export async function runTests({ folder }: Checkout, { project, files, titles, env }: Asked): Promise<Report> {
  const output = join(folder, 'report.json')
  rmSync(output, { force: true })
  const pattern = titles?.map((title) => `(^| )${RegExp.escape(title)}$`).join('|')
  const only = pattern === undefined ? [] : ['--testNamePattern', pattern]
  const args = ['run', '--project', project, ...new Set(files), ...only, '--reporter=json', `--outputFile=${output}`]
  const child = spawn(process.execPath, [join(folder, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: 'ignore',
    timeout: limitMs,
    killSignal: 'SIGKILL',
  })
  await once(child, 'exit')
  return existsSync(output) ? JSON.parse(readFileSync(output, 'utf8')) : nothing
}

export interface Result {
  readonly status: 'passed' | 'failed' | 'timed out' | 'not run'
  readonly seconds: number
}

/** Tests of one title in one file count as one, which fails with any of them. */
export function resultOf({ testResults }: Report, { file, title }: TestName): Result {
  const found = testResults
    .filter(({ name }) => name.endsWith(`/${file}`))
    .flatMap(({ assertionResults }) => assertionResults.filter((each) => each.title === title))
  const seconds = found.reduce((sum, { duration }) => sum + (duration ?? 0), 0) / 1000
  const failed = found.filter(({ status }) => status === 'failed')
  const late = failed.filter(({ failureMessages }) => failureMessages?.join().includes('timed out in'))
  if (failed.length > late.length) return { status: 'failed', seconds }
  if (late.length > 0) return { status: 'timed out', seconds }
  const hasPassed = found.length > 0 && found.every(({ status }) => status === 'passed')
  return { status: hasPassed ? 'passed' : 'not run', seconds }
}
