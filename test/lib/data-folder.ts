import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A new folder, until the end of the test. */
export function dataFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
