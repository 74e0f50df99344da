import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlantedBug } from './bug.ts'
import { plant } from './bugs.ts'

/** A copy of the checkout that this process runs in, with what is not committed yet. */
export class Checkout {
  readonly folder: string

  /** `folder` does not exist yet. */
  constructor(folder: string) {
    this.folder = folder
    const known = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
    const files = String(known).split('\0')
    for (const file of files) if (file !== '' && existsSync(file)) cpSync(file, join(folder, file))
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  }

  /** Returns what takes the bugs out again. */
  plant(...bugs: readonly PlantedBug[]): () => void {
    const before = new Map<string, string>()
    for (const bug of bugs) {
      const file = join(this.folder, bug.file)
      const source = readFileSync(file, 'utf8')
      if (!before.has(file)) before.set(file, source)
      writeFileSync(file, plant(bug, source))
    }
    return () => {
      for (const [file, source] of before) writeFileSync(file, source)
    }
  }
}
