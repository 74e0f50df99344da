/** tarball.ts TARBALL: compares what npm has packed with what is to be in it. Ends with 1 where they differ. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { asTheyAre, compiled } from '../ops/built-files.ts'

const root = join(import.meta.dirname, '..')
const built = [...compiled(root), ...asTheyAre(root)].map((file) => `dist/${file}`)
const expected = new Set(['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', ...built])
const listed = execFileSync('tar', ['tzf', process.argv[2] ?? ''], { encoding: 'utf8' })
const packed = new Set(
  listed
    .trim()
    .split('\n')
    .map((line) => line.replace(/^package\//, '')),
)

const lacking = [...expected.difference(packed)].map((file) => `the tarball lacks ${file}`)
const tooMany = [...packed.difference(expected)].map((file) => `the tarball has ${file}, which nothing reads`)
process.stdout.write(`${[...lacking, ...tooMany, `${packed.size} files in the tarball`].join('\n')}\n`)
process.exitCode = lacking.length + tooMany.length > 0 ? 1 : 0
