import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { outputOf, readJson, sha256, sha256OfFile } from './commands.ts'

export const provenanceFile = 'provenance.json'
export const sumsFile = 'SHA256SUMS'

interface Hashed {
  readonly file: string
  readonly sha256: string
}

/** What a release was made of, and what came of it. */
export interface Provenance {
  readonly name: string
  readonly version: string
  readonly commit: string
  readonly node: string
  readonly npm: string
  readonly lockFile: Hashed
  readonly tarball: Hashed
  readonly sbom: Hashed
  /** Null where it was left out. The digest of a registry is known once it is pushed; the id is that of the image here. */
  readonly image: Image | null
  /** The commands that succeeded on the commit. */
  readonly checks: readonly string[]
}

export interface Image {
  readonly tag: string
  readonly id: string
  /** The image that it is built on. */
  readonly base: string
}

export function hashed(folder: string, file: string): Hashed {
  return { file, sha256: sha256OfFile(join(folder, file)) }
}

/** Writes the provenance, and the sums of all that lies in the folder, itself included. */
export function writeProvenance(folder: string, provenance: Provenance): void {
  writeFileSync(join(folder, provenanceFile), `${JSON.stringify(provenance, null, 2)}\n`)
  const sums = filesIn(folder).map((file) => `${sha256OfFile(join(folder, file))}  ${file}\n`)
  writeFileSync(join(folder, sumsFile), sums.join(''))
}

/** What is not as the provenance in a folder says, which may lie anywhere. `root` is a checkout that has its commit. */
export function findUntrue(folder: string, root: string): string[] {
  const absent = [provenanceFile, sumsFile].filter((file) => !existsSync(join(folder, file)))
  if (absent.length > 0) return absent.map((file) => `${file} is not there.`)
  const provenance: Provenance = readJson(join(folder, provenanceFile))
  const { tarball, sbom } = provenance
  const changed = [...findChanged(folder), ...[tarball, sbom].flatMap((each) => againstHash(folder, each))]
  return changed.length > 0 ? changed : [...againstContents(folder, provenance), ...againstCommit(root, provenance)]
}

function findChanged(folder: string): string[] {
  const lines = readFileSync(join(folder, sumsFile), 'utf8').trimEnd().split('\n')
  const sums = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]))
  const unnamed = filesIn(folder).filter((file) => !sums.has(file))
  const named = [...sums].flatMap(([file, sum]) => againstHash(folder, { file, sha256: sum }))
  return [...named, ...unnamed.map((file) => `${sumsFile} does not name ${file}.`)]
}

function againstHash(folder: string, { file, sha256: sum }: Hashed): string[] {
  if (!existsSync(join(folder, file))) return [`${file} is not there.`]
  return sha256OfFile(join(folder, file)) === sum ? [] : [`${file} has another hash than was written down.`]
}

function againstContents(folder: string, { name, version, tarball, sbom }: Provenance): string[] {
  const packed = JSON.parse(outputOf(folder, ['tar', '-xzOf', tarball.file, 'package/package.json']))
  const { component } = readJson(join(folder, sbom.file)).metadata
  const named = { [tarball.file]: packed, [sbom.file]: component }
  return Object.entries(named).flatMap(([file, { name: itsName, version: its }]) =>
    itsName === name && its === version ? [] : [`${file} is of ${itsName} ${its}, and not of ${name} ${version}.`],
  )
}

function againstCommit(root: string, { commit, version, lockFile }: Provenance): string[] {
  const at = (file: string) => outputOf(root, ['git', '-c', 'safe.directory=*', 'show', `${commit}:${file}`])
  const its = JSON.parse(at('package.json')).version
  return [
    ...(sha256(at(lockFile.file)) === lockFile.sha256 ? [] : [`${lockFile.file} of ${commit} has another hash.`]),
    ...(its === version ? [] : [`${commit} has the version ${its}, and not ${version}.`]),
  ]
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file !== sumsFile)
    .sort()
}
