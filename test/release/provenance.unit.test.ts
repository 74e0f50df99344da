import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sha256 } from '../../ops/release/commands.ts'
import { findUntrue, hashed, type Provenance, writeProvenance } from '../../ops/release/provenance.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'
import { packageAt, type Repository, releasable } from './repository.ts'

const [tarball, sbom] = ['petstore-animals-1.1.0.tgz', 'petstore-animals-1.1.0.sbom.json']

/** A release as it is made, with what it says of itself changed. */
function released(change: (provenance: Provenance) => Provenance = (made) => made, packed = '1.1.0') {
  const [folder, repository] = [temporaryFolder(), releasable()]
  pack(folder, packed)
  writeFileSync(join(folder, sbom), JSON.stringify({ metadata: { component: JSON.parse(packageAt('1.1.0')) } }))
  const made = { tarball: hashed(folder, tarball), sbom: hashed(folder, sbom), image: null, checks: [] }
  const lockFile = hashed(repository.root, 'package-lock.json')
  const named = { name: 'petstore-animals', version: '1.1.0', commit: repository.git('rev-parse', 'HEAD') }
  writeProvenance(folder, change({ ...named, node: '24.21.0', npm: '11.19.1', lockFile, ...made }))
  return { folder, repository, untrue: () => findUntrue(folder, repository.root) }
}

function pack(folder: string, version: string): void {
  const packed = join(temporaryFolder(), 'package')
  mkdirSync(packed)
  writeFileSync(join(packed, 'package.json'), packageAt(version))
  execFileSync('tar', ['-czf', join(folder, tarball), '-C', join(packed, '..'), 'package'])
}

it('says what lies beside it', () => expect(released().untrue()).toEqual([]))

it('has sums that sha256sum reads', () => {
  const { folder } = released()
  const checked = execFileSync('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' })
  expect(checked).toBe(`${sbom}: OK\n${tarball}: OK\nprovenance.json: OK\n`)
})

it.each([tarball, sbom, 'provenance.json'])('is not true beside another %s', (file) => {
  const { folder, untrue } = released()
  appendFileSync(join(folder, file), ' ')
  expect(untrue()).toContain(`${file} has another hash than was written down.`)
})

it.each([tarball, sbom, 'provenance.json', 'SHA256SUMS'])('is not true without %s', (file) => {
  const { folder, untrue } = released()
  rmSync(join(folder, file))
  expect(untrue()).toContain(`${file} is not there.`)
})

it('is not true beside a file that no sum is of', () => {
  const { folder, untrue } = released()
  writeFileSync(join(folder, 'more.txt'), '')
  expect(untrue()).toEqual(['SHA256SUMS does not name more.txt.'])
})

it('is not true of a tarball of another version, though its hash is that one', () => {
  const said = `${tarball} is of petstore-animals 1.0.0, and not of petstore-animals 1.1.0.`
  expect(released(undefined, '1.0.0').untrue()).toEqual([said])
})

it('is not true of another lock file than that of the commit', () => {
  const { untrue, repository } = released((made) => ({
    ...made,
    lockFile: { file: 'package-lock.json', sha256: sha256('another') },
  }))
  expect(untrue()).toEqual([`package-lock.json of ${repository.git('rev-parse', 'HEAD')} has another hash.`])
})

it('is not true of a commit of another version', () => {
  const { folder, repository } = released()
  const commit = commitOf(repository, '1.2.0')
  const said: Provenance = JSON.parse(readFileSync(join(folder, 'provenance.json'), 'utf8'))
  writeProvenance(folder, { ...said, commit })
  expect(findUntrue(folder, repository.root)).toEqual([`${commit} has the version 1.2.0, and not 1.1.0.`])
})

function commitOf(repository: Repository, version: string): string {
  repository.write({ 'package.json': packageAt(version) })
  return repository.commit()
}
