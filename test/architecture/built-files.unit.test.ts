import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { asTheyAre, compiled } from '../../ops/built-files.ts'

const root = join(import.meta.dirname, '../..')
/** For the compiler alone. */
const unread = /\.d\.ts$|^src\/engine\/console\/page\/(types\.ts|tsconfig\.json)$/

it('the build makes or copies each file of the sources', () => {
  const listed = execFileSync('git', ['ls-files', 'src', 'projections'], { cwd: root, encoding: 'utf8' })
  const needed = listed.split('\n').filter((file) => file !== '' && !unread.test(file))
  const sources = compiled(root).flatMap((file) => (file.endsWith('.js') ? [file.replace(/\.js$/, '.ts')] : []))
  expect([...sources, ...asTheyAre(root)].sort()).toEqual(needed.sort())
})
