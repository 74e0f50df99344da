import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { git, readJson, run } from './commands.ts'
import { publishedCopies } from './refusals.ts'
import { entriesOf, isLarger, versionForm } from './versions.ts'

const unreleased = 'Unreleased'
/** How pages, manifests and the image name the version. A package that they use may have the same one. */
const namings = ['petstore-animals-VERSION.tgz', 'petstore-animals:VERSION', 'newTag: VERSION', 'image.version=VERSION']

/** Writes into the checkout what a release is to have: its version, and what it publishes. A second time changes nothing. */
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
  name(root, readJson(join(root, 'package.json')).version, version)
  run(root, ['npm', 'version', version, '--no-git-tag-version', '--allow-same-version', '--silent'])
  writeFileSync(changelog, text.replace(`\n## ${unreleased}`, `\n## ${version}`))
  run(root, ['npm', 'run', '--silent', 'schemas'])
  for (const [file, copy] of publishedCopies(root)) copyFileSync(join(root, file), join(root, copy))
}

/** Names the version wherever the one before is named, in pages, manifests and their test, and the Dockerfile. */
function name(root: string, before: string, version: string): void {
  const past = [':!CHANGELOG.md', ':!docs/decisions']
  const listed = git(root, 'ls-files', '-z', '*.md', '*.yaml', '*.yml', '*Dockerfile', 'test/kubernetes/*.ts', ...past)
  for (const file of listed.split('\0').filter(Boolean)) {
    const text = readFileSync(join(root, file), 'utf8')
    const named = namings.reduce(
      (all, naming) => all.replaceAll(naming.replace('VERSION', before), naming.replace('VERSION', version)),
      text,
    )
    if (named !== text) writeFileSync(join(root, file), named)
  }
}
