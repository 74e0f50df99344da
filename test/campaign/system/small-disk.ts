import { execFile } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newFolder } from './new-folder.ts'

const run = promisify(execFile)

/** A file system of so many MiB, in memory, until `stack` ends. Needs the rights of root. */
export async function mountSmall(stack: AsyncDisposableStack, folder: string, mebibytes: number): Promise<void> {
  mkdirSync(folder)
  const mounted = run('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'petstore-campaign', folder])
  stack.defer(async () => {
    const isMounted = await mounted.then(
      // the campaign may be interrupted meanwhile
      () => true,
      () => false,
    )
    if (isMounted) await run('umount', ['--lazy', folder])
  })
  await mounted
}

/** Whether this process has the rights. */
export async function canMountSmall(): Promise<boolean> {
  await using stack = new AsyncDisposableStack()
  return await mountSmall(stack, join(newFolder(stack), 'disk'), 1).then(
    () => true,
    () => false,
  )
}

/** Leaves no byte free. */
export async function fill(disk: string): Promise<void> {
  await run('dd', ['if=/dev/zero', `of=${join(disk, 'filler')}`, 'bs=64k']).catch(() => {}) // it fails once it is full
}

export function empty(disk: string): void {
  rmSync(join(disk, 'filler'), { force: true })
}
