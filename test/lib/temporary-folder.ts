import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { whenDone } from './when-done.ts'

/** The path of a new folder that is removed when it is no longer used. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'petstore-test-'))
  whenDone(() => rmSync(path, { recursive: true, force: true }))
  return path
}
