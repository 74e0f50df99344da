import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

// As far away from a built file as from a source file
const manifest = findPackageJSON('..', import.meta.url) as string
const { name, version } = JSON.parse(readFileSync(manifest, 'utf8'))

/** The name of the program, whatever service it runs, as package.json has it. */
export const program: string = name
export const release: string = version
