/** Makes dist/, which the package and the image have: what the compiler makes of src and projections, and what is read at run time. */
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { asTheyAre } from './built-files.ts'

const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')

rmSync(dist, { recursive: true, force: true })
const typescript = createRequire(import.meta.url).resolve('typescript/package.json')
const { bin } = JSON.parse(readFileSync(typescript, 'utf8'))
const compiler = join(dirname(typescript), bin.tsc)
execFileSync(process.execPath, [compiler, '--project', join(root, 'tsconfig.build.json')], { stdio: 'inherit' })
for (const file of asTheyAre(root)) cpSync(join(root, file), join(dist, file))
