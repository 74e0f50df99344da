import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The path of a temporary folder that is removed with `stack`. */
export function newFolder(stack: AsyncDisposableStack): string {
  const path = mkdtempSync(join(tmpdir(), 'petstore-campaign-'))
  stack.defer(() => rmSync(path, { recursive: true, force: true }))
  return path
}
