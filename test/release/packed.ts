import { execFileSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pack, unpack } from '../../ops/release/pack.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

const root = join(import.meta.dirname, '../..')

/** This release as its tarball has it, on the packages that are installed here: its command, without arguments. */
export function packedCommand(): readonly string[] {
  const packed = unpack(join(...packSources()), temporaryFolder())
  symlinkSync(join(root, 'node_modules'), join(packed, 'node_modules'))
  return [process.execPath, join(packed, 'dist/src/petstore.cjs')]
}

/** The folder and the name of a tarball of the sources as they are now: `dist` of this checkout may be in use, or old. */
function packSources(): [folder: string, tarball: string] {
  const [checkout, folder] = [temporaryFolder(), temporaryFolder()]
  const listed = execFileSync(
    'git',
    ['-c', 'safe.directory=*', 'ls-files', '-z', 'src', 'projections', 'ops', ':(glob)*'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  for (const file of listed.split('\0').filter(Boolean)) cpSync(join(root, file), join(checkout, file))
  symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
  return [folder, pack(checkout, folder)]
}
