import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './commands.ts'
import { publishedCopies } from './refusals.ts'
import { entriesOf, isLarger, versionForm } from './versions.ts'

const unreleased = 'Unreleased'

/** Writes what a release has in its commit: its version, its entry in the changelog, and what it publishes. Again changes nothing. */
export function prepare(root: string, version: string): void {
  const changelog = join(root, 'CHANGELOG.md')
  const text = readFileSync(changelog, 'utf8')
  const [newest, ...others] = entriesOf(text)
  if (!versionForm.test(version)) throw new Error(`${version} is not MAJOR.MINOR.PATCH.`)
  if (newest !== unreleased && newest !== version) {
    throw new Error(`CHANGELOG.md begins with ${newest}: an entry for ${version} has to come first.`)
  }
  const last = others.find((name) => versionForm.test(name))
  if (last !== undefined && !isLarger(version, last)) throw new Error(`${version} is not larger than ${last}.`)
  run(root, ['npm', 'version', version, '--no-git-tag-version', '--allow-same-version', '--silent'])
  writeFileSync(changelog, text.replace(`\n## ${unreleased}`, `\n## ${version}`))
  run(root, ['npm', 'run', '--silent', 'schemas'])
  for (const [file, copy] of publishedCopies(root)) copyFileSync(join(root, file), join(root, copy))
}
