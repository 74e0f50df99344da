/** count.ts REPORT: prints "passed failed" of a Vitest JSON report. CI skips nothing: a skipped test counts as failed. */
import { readFileSync } from 'node:fs'

interface Report {
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
}

const report: Report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
let passed = 0
let failed = 0
for (const file of report.testResults) {
  // a file that could not be loaded has failed without a test of its own
  if (file.status !== 'passed' && file.assertionResults.every(({ status }) => status === 'passed')) failed++
  for (const { status, fullName } of file.assertionResults) {
    if (status === 'passed') passed++
    else {
      failed++
      process.stderr.write(`${status}: ${file.name}: ${fullName}\n`)
    }
  }
}
if (passed === 0) failed++
process.stdout.write(`${passed} ${failed}\n`)
