import { describe, expect, it } from 'vitest'
import { reasonsAgainst } from '../../ops/release/refusals.ts'
import { packageAt, releasable } from './repository.ts'

const copies = 'test/compatibility/published'

/** What is said against a release of a repository whose commit has these files in place of its own. */
function reasonsWith(files: Readonly<Record<string, string>>): string[] {
  const repository = releasable()
  repository.write(files)
  repository.commit()
  return reasonsAgainst(repository.root)
}

const at = (version: string, changelog: string) => ({
  'package.json': packageAt(version),
  'package-lock.json': packageAt(version),
  'CHANGELOG.md': changelog,
})

describe('a release', () => {
  it('is made of what is committed, of a version that the changelog begins with', () => {
    expect(reasonsAgainst(releasable().root)).toEqual([])
    expect(reasonsWith(at('1.10.0', '## 1.10.0\n\n## 1.9.0\n'))).toEqual([])
  })

  it('is made again of the commit that its tag names', () => {
    const repository = releasable()
    repository.git('tag', 'v1.0.0')
    repository.commit()
    repository.git('tag', 'v1.1.0')
    expect(reasonsAgainst(repository.root)).toEqual([])
  })

  it('is not made of what is not committed, be it changed or new', () => {
    const repository = releasable()
    repository.write({ 'CHANGELOG.md': '## 1.1.0\n', 'src/new.ts': '' })
    expect(reasonsAgainst(repository.root)).toEqual(['Not committed: CHANGELOG.md.', 'Not committed: src/.'])
  })

  it('is not made of the commit behind that which its tag names', () => {
    const repository = releasable()
    repository.git('tag', 'v1.1.0')
    repository.commit()
    expect(reasonsAgainst(repository.root)).toEqual(['1.1.0 is not larger than 1.1.0, which is released.'])
  })

  it.each<[what: string, files: Record<string, string>, reason: string]>([
    [
      'a version that the changelog does not have',
      { 'CHANGELOG.md': '## Unreleased: pets are sold\n\n## 1.0.0\n' },
      'CHANGELOG.md begins with Unreleased, and package.json has the version 1.1.0.',
    ],
    [
      'a version that is not larger',
      at('1.0.0', '## 1.0.0\n\n## 1.0.0\n'),
      '1.0.0 is not larger than 1.0.0, which is released.',
    ],
    [
      'a version that is smaller',
      at('1.9.0', '## 1.9.0\n\n## 1.10.0\n'),
      '1.9.0 is not larger than 1.10.0, which is released.',
    ],
    [
      'a version of another form',
      at('1.1', '## 1.1\n'),
      'package.json has the version 1.1, which is not MAJOR.MINOR.PATCH.',
    ],
    [
      'a lock file of another version',
      { 'package-lock.json': packageAt('1.0.0') },
      'package-lock.json has the version 1.0.0, and package.json 1.1.0.',
    ],
    [
      'a document that is not recorded as it is',
      { 'docs/openapi.json': '{"a":1}' },
      `${copies}/openapi.json is not docs/openapi.json.`,
    ],
    [
      'a type of event that is not recorded',
      { 'docs/events/petstore.PetSold.v1.schema.json': '{}' },
      `${copies}/petstore.PetSold.v1.schema.json is not docs/events/petstore.PetSold.v1.schema.json.`,
    ],
  ])('is not made with %s', (_, files, reason) => expect(reasonsWith(files)).toEqual([reason]))
})
