import { type ExecFileSyncOptions, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

/** The commit of release 1.0.0, the one before this: replaced with each release. */
const released = 'c28e1015f6857b2586f91a13bd79479250c318a4'
/** The last one with pets and their orders alone. It goes once a release is made of a later one. */
export const beforeKinds = '4a971f3b428eab2124ab6a2d84e607e5599e1c7d'

const root = fileURLToPath(new URL('../../', import.meta.url))

function git(...args: string[]): Buffer {
  const options: ExecFileSyncOptions = { cwd: root, maxBuffer: 64 * 1024 ** 2, stdio: ['ignore', 'pipe', 'pipe'] }
  return execFileSync('git', ['-c', 'safe.directory=*', ...args], { ...options, encoding: 'buffer' })
}

function isInHistory(commit: string): boolean {
  try {
    git('cat-file', '-e', `${commit}^{commit}`)
    return true
  } catch {
    return false // a shallow clone, an archive without history, or no git
  }
}

/**
 * A suite on the release before this one, or on another commit, out of the history of the repository, and on the packages
 * that are installed; `command` starts it, and the command line with `cli.ts` in place of `main.ts`. A checkout without the history, such as an archive, cannot run the suite, and says so.
 */
export function describeWithPreviousRelease(
  name: string,
  suite: (command: readonly string[]) => void,
  commit = released,
): void {
  if (isInHistory(commit)) {
    describe(name, () => {
      const folder = mkdtempSync(join(tmpdir(), 'petstore-previous-'))
      afterAll(() => rmSync(folder, { recursive: true }))
      execFileSync('tar', ['-x', '-C', folder], { input: git('archive', commit, 'package.json', 'src', 'projections') })
      symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
      suite([process.execPath, join(folder, 'src', 'main.ts')])
    })
    return
  }
  describe(name, () => {
    it('was not tried: that needs the history of the repository, as by git fetch --unshallow', () => {
      expect(isInHistory(commit)).toBe(false)
    })
  })
}
