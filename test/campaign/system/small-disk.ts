import { execFile } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A file system of so many MiB, in memory, until `stack` ends. Needs the rights of root. */
export async function mountSmall(stack: AsyncDisposableStack, folder: string, mebibytes: number): Promise<string> {
  mkdirSync(folder)
  const mounted = run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'petstore-campaign', folder])
  stack.defer(async () => {
    await mounted // the campaign may be interrupted meanwhile
    await run('umount', ['--lazy', folder])
  })
  await mounted
  return folder
}

/** Leaves no byte free. */
export async function fill(disk: string): Promise<void> {
  await run('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=64k']).catch(() => {}) // it fails once it is full
}

export function empty(disk: string): void {
  rmSync(join(disk, 'filler'), { force: true })
}
