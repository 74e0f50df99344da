import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../lib/temporary-folder.ts'

/** A repository of what a release looks at, until the test ends. */
export class Repository {
  readonly root = temporaryFolder()

  constructor(files: Readonly<Record<string, string>>) {
    this.git('init', '--quiet')
    this.write(files)
    this.commit()
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.root, file)), { recursive: true })
      writeFileSync(join(this.root, file), text)
    }
  }

  /** The commit of all that is there. */
  commit(): string {
    this.git('add', '--all')
    this.git('commit', '--quiet', '--allow-empty', '--message', 'a commit')
    return this.git('rev-parse', 'HEAD')
  }

  git(...args: string[]): string {
    const identity = ['user.name=nobody', 'user.email=nobody@example.com', 'commit.gpgsign=false']
    const settings = identity.flatMap((setting) => ['-c', setting])
    return execFileSync('git', [...settings, ...args], { cwd: this.root, encoding: 'utf8' }).trim()
  }
}

export const packageAt = (version: string) => `${JSON.stringify({ name: 'petstore-animals', version })}\n`

/** One from which a release can be made. */
export function releasable(): Repository {
  return new Repository({
    'package.json': packageAt('1.1.0'),
    'package-lock.json': packageAt('1.1.0'),
    'CHANGELOG.md': '# Changelog\n\n## 1.1.0: pets are sold\n\n## 1.0.0\n',
    'docs/openapi.json': '{}',
    'docs/events/petstore.PetCreated.v1.schema.json': '{}',
    'test/compatibility/published/openapi.json': '{}',
    'test/compatibility/published/petstore.PetCreated.v1.schema.json': '{}',
  })
}
