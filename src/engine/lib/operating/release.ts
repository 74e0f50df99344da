import { readFileSync } from 'node:fs'

const { name, version } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'))

/** The name of the program, whatever service it runs, as package.json has it. */
export const program: string = name
export const release: string = version
