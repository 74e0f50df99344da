import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashKey, type StoredKey } from '../../src/engine/api-keys/key-file.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

/**
 * A Secret in a folder, as the kubelet keeps it: each file is a link into `..data`, which is a link to a folder of the present
 * state. A change makes another folder, turns `..data` to it in one step, and removes the old one.
 */
export class MountedSecret {
  readonly folder = temporaryFolder()
  #state = 0

  constructor(files: Readonly<Record<string, string>>) {
    chmodSync(this.folder, 0o755)
    this.change(files)
    for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(this.folder, name))
  }

  change(files: Readonly<Record<string, string>>): void {
    const [before, after] = [`..${this.#state}`, `..${++this.#state}`]
    mkdirSync(join(this.folder, after), { mode: 0o755 })
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(this.folder, after, name), text)
      chmodSync(join(this.folder, after, name), 0o444)
    }
    symlinkSync(after, join(this.folder, '..data_tmp'))
    renameSync(join(this.folder, '..data_tmp'), join(this.folder, '..data'))
    rmSync(join(this.folder, before), { recursive: true, force: true })
  }
}

/** A file of API keys that accepts these. */
export function keyFile(...keys: readonly string[]): { 'api-keys.json': string } {
  const createdAt = new Date().toISOString()
  const stored = keys.map(
    (key, n): StoredKey => ({ id: `key-${n}`, name: `key ${n}`, sha256: hashKey(key), createdAt }),
  )
  return { 'api-keys.json': JSON.stringify({ keys: stored }) }
}
