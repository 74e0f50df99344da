import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { git, outputOf, run } from './commands.ts'

/** Modes of files are part of a tarball: a checkout that others may not read would give another one. */
const umask = 0o022

/** A checkout of a commit in `folder`, with the packages of its lock file, and nothing else. Its name is that of the package. */
export function checkOut(root: string, commit: string, folder: string): string {
  process.umask(umask)
  const checkout = join(folder, 'petstore-animals')
  git(root, 'clone', '--quiet', '--no-checkout', '.', checkout)
  git(checkout, 'checkout', '--quiet', '--detach', commit)
  run(checkout, ['npm', 'ci', '--silent'])
  return checkout
}

/** Builds and packs a checkout. The name of the tarball, which lies in `into`. */
export function pack(checkout: string, into: string): string {
  run(checkout, ['npm', 'run', '--silent', 'build'])
  return outputOf(checkout, ['npm', 'pack', '--silent', '--pack-destination', into]).trimEnd()
}

export function unpack(tarball: string, into: string): string {
  execFileSync('tar', ['-xzf', tarball, '-C', into])
  return join(into, 'package')
}
