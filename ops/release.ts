/** `npm run release`: the steps of docs/releases.md. It publishes nothing and pushes nothing: it prints the commands for that. */
import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { readJson, sha256OfFile } from './release/commands.ts'
import { checks, commandsToPublish, type MakeOptions, makeRelease } from './release/make.ts'
import { checkOut, pack } from './release/pack.ts'
import { prepare } from './release/prepare.ts'
import { findUntrue, type Provenance, provenanceFile } from './release/provenance.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'release')
const shown = relative(process.cwd(), folder)
const say = (what: string) => process.stderr.write(`release: ${what}\n`)

/** Makes the tarball of a release again, of the commit that it names. */
function findOtherTarball(of: string): string[] {
  const { commit, tarball }: Provenance = readJson(join(of, provenanceFile))
  using scratch = mkdtempDisposableSync(join(tmpdir(), 'petstore-release-'))
  const again = join(scratch.path, pack(checkOut(root, commit, scratch.path), scratch.path))
  return sha256OfFile(again) === tarball.sha256 ? [] : [`${commit} makes another tarball than ${tarball.file} here.`]
}

const program = new Command('npm run release --').description('Makes a release: see docs/releases.md.')

program
  .command('prepare <version>')
  .description('writes version, changelog and what is published; you look at it and commit it')
  .action((version: string) => {
    prepare(root, version)
    say(`look at git diff, then: git add --all && git commit --message "release: ${version}"`)
  })

program
  .command('make')
  .description(`makes a release of the commit in ${shown}/: tarball, bill of materials, image, sums, provenance`)
  .option('--no-image', 'leave out the image, where there is no Docker')
  .option('--node-image <image>', 'what the image is built on, in place of what the Dockerfile names')
  .addOption(new Option('--checks <which>', 'what is tried').choices(Object.keys(checks)).default('needed'))
  .action((options: MakeOptions) => {
    const provenance = makeRelease(root, folder, options, say)
    say(`${shown}/ has release ${provenance.version}. To publish it:`)
    for (const command of commandsToPublish(shown, provenance)) process.stdout.write(`${command}\n`)
  })

program
  .command('verify [folder]')
  .description('compares a release with its provenance, and its tarball with what its commit makes')
  .option('--no-build', 'without the second')
  .action((of: string | undefined, { build }: { build: boolean }) => {
    const where = of === undefined ? folder : resolve(of)
    const untrue = findUntrue(where, root)
    if (untrue.length === 0 && build) untrue.push(...findOtherTarball(where))
    if (untrue.length > 0) throw new Error(untrue.join('\n'))
    say(`${relative(process.cwd(), where)}/ is as its provenance says`)
  })

try {
  program.parse()
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
