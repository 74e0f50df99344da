import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { git, readJson } from './commands.ts'
import { entriesOf, isLarger, versionForm } from './versions.ts'

/** What others rely on: as a release publishes it, in `docs`, and as the next ones are compared with it. */
export const publishedFolder = 'test/compatibility/published'
const publishedFiles = ['docs/openapi.json', 'docs/events/*.schema.json']

/** Where each file is kept that a release publishes, by where it is written. */
export function publishedCopies(root: string): Map<string, string> {
  const files = globSync(publishedFiles, { cwd: root }).sort()
  return new Map(files.map((file) => [file, join(publishedFolder, basename(file))]))
}

/** Why no release can be made of what is checked out. Empty if one can. */
export function reasonsAgainst(root: string): string[] {
  const { version } = readJson(join(root, 'package.json'))
  return [...uncommitted(root), ...againstVersion(root, version), ...unpublished(root)]
}

/** Names what differs from the commit. Files that git ignores are no part of it. */
export function uncommitted(root: string): string[] {
  const changed = git(root, 'status', '--porcelain').split('\n').filter(Boolean)
  return changed.map((line) => `Not committed: ${line.slice(3)}.`)
}

function againstVersion(root: string, version: string): string[] {
  if (!versionForm.test(version)) return [`package.json has the version ${version}, which is not MAJOR.MINOR.PATCH.`]
  const reasons: string[] = []
  const locked = readJson(join(root, 'package-lock.json')).version
  if (locked !== version) reasons.push(`package-lock.json has the version ${locked}, and package.json ${version}.`)
  const [newest = 'nothing', ...earlier] = entriesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))
  if (newest !== version)
    reasons.push(`CHANGELOG.md begins with ${newest}, and package.json has the version ${version}.`)
  const released = [...(newest === version ? earlier : [newest, ...earlier]), ...tagged(root)]
  const last = released.filter((name) => versionForm.test(name)).reduce((a, b) => (isLarger(b, a) ? b : a), '')
  if (last !== '' && !isLarger(version, last)) reasons.push(`${version} is not larger than ${last}, which is released.`)
  return reasons
}

/** The tag of a release that is made again, of the same commit, is no earlier one. */
function tagged(root: string): string[] {
  const tags = git(root, 'tag', '--list', 'v*').split('\n').filter(Boolean)
  const here = git(root, 'tag', '--list', 'v*', '--points-at', 'HEAD').split('\n')
  return tags.filter((tag) => !here.includes(tag)).map((tag) => tag.slice(1))
}

function unpublished(root: string): string[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  return [...publishedCopies(root)].flatMap(([file, copy]) =>
    existsSync(join(root, copy)) && read(copy) === read(file) ? [] : [`${copy} is not ${file}.`],
  )
}
