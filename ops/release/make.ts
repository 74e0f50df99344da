import { mkdirSync, mkdtempDisposableSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { git, outputOf, readJson, run } from './commands.ts'
import { buildImage, reasonsAgainstImage } from './image.ts'
import { checkOut, pack } from './pack.ts'
import { hashed, type Provenance, writeProvenance } from './provenance.ts'
import { reasonsAgainst, uncommitted } from './refusals.ts'

/** What is tried of the commit: what a release needs at least, all that CI tries, or nothing. */
export const checks = {
  needed: [
    ['npm', 'run', 'check'],
    ['npm', 'run', 'test:all', '--', 'test/e2e/previous-release.long.test.ts'],
    ['.ci/package'],
  ],
  all: [['.ci/run']],
  none: [],
} as const satisfies Readonly<Record<string, readonly (readonly string[])[]>>

export interface MakeOptions {
  readonly image: boolean
  readonly nodeImage?: string
  readonly checks: keyof typeof checks
}

/** Throws an error whose message names each reason, where there are any. */
function refuse(reasons: readonly string[]): void {
  if (reasons.length > 0) throw new Error(reasons.join('\n'))
}

/**
 * Makes a release of the commit that is checked out, in a clone of its own: what git ignores has no part in it. `into` is
 * emptied first, and complete at the end: a run that failed leaves no provenance, and can be repeated.
 */
export function makeRelease(root: string, into: string, options: MakeOptions, say: (what: string) => void): Provenance {
  rmSync(into, { recursive: true, force: true })
  refuse([...reasonsAgainst(root), ...(options.image ? reasonsAgainstImage(root) : [])])
  mkdirSync(into, { recursive: true })
  using scratch = mkdtempDisposableSync(join(tmpdir(), 'petstore-release-'))
  const commit = git(root, 'rev-parse', 'HEAD')
  const { name, version } = readJson(join(root, 'package.json'))

  say(`checking out ${commit}`)
  const checkout = checkOut(root, commit, scratch.path)
  run(checkout, ['npm', 'run', '--silent', 'schemas'])
  refuse(uncommitted(checkout).map((reason) => `${reason} npm run schemas writes it anew.`))

  say('building and packing')
  const tarball = pack(checkout, into)
  run(checkout, ['node', '.ci/tarball.ts', join(into, tarball)])
  const sbom = `${name}-${version}.sbom.json`
  const components = outputOf(checkout, ['npm', 'sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'])
  writeFileSync(join(into, sbom), components)

  say(options.image ? 'building the image' : 'left out: the image')
  const image = options.image ? buildImage(checkout, { name, version, commit }, options.nodeImage) : null
  const checked = checks[options.checks].map((command) => {
    say(command.join(' '))
    run(checkout, command)
    return command.join(' ')
  })
  if (checked.length === 0) say('left out: the checks')

  const [node, npm] = [process.versions.node, outputOf(checkout, ['npm', '--version']).trimEnd()]
  const made = { tarball: hashed(into, tarball), sbom: hashed(into, sbom), image, checks: checked }
  const provenance = { name, version, commit, node, npm, lockFile: hashed(checkout, 'package-lock.json'), ...made }
  writeProvenance(into, provenance)
  return provenance
}

/** What is left to do by hand. */
export function commandsToPublish(folder: string, { version, commit, tarball, image }: Provenance): string[] {
  return [
    `git tag --annotate v${version} --message v${version} ${commit} && git push origin v${version}`,
    `npm publish ${join(folder, tarball.file)}`,
    ...(image === null ? [] : [`docker tag ${image.id} REGISTRY/${image.tag} && docker push REGISTRY/${image.tag}`]),
  ]
}
