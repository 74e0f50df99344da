/**
 * count.ts REPORT: prints "passed failed" of a Vitest JSON report, and each failure on standard error. CI skips nothing: a
 * skipped test counts as failed.
 */
import { readFileSync } from 'node:fs'

interface Assertion {
  status: string
  fullName: string
  failureMessages: string[]
}

interface Report {
  testResults: { name: string; status: string; message: string; assertionResults: Assertion[] }[]
}

const report: Report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
let passed = 0
let failed = 0
for (const file of report.testResults) {
  // a file that could not be loaded has failed without a test of its own
  if (file.status !== 'passed' && file.assertionResults.every(({ status }) => status === 'passed')) {
    failed++
    process.stderr.write(`failed: ${file.name}: ${file.message}\n`)
  }
  for (const { status, fullName, failureMessages } of file.assertionResults) {
    if (status === 'passed') passed++
    else {
      failed++
      process.stderr.write(`${status}: ${file.name}: ${fullName}\n${failureMessages.join('\n')}\n`)
    }
  }
}
if (passed === 0) failed++
process.stdout.write(`${passed} ${failed}\n`)
