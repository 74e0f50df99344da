import { registerHooks } from 'node:module'

/*
 * Loaded before everything else (node --import), this makes a next release of the service out of the source of this one:
 * its projection has the next version, and writes the status of a pet before its name.
 */

const changes: [text: RegExp, next: (found: string, ...groups: string[]) => string][] = [
  [/\bversion: (\d+),/, (_, version) => `version: ${Number(version) + 1},`],
  [
    /\bpetDocument\(pet\)/,
    (found) => `${found}.replace(/("name":.*),("status":"\\w+")((?:,"description":.*)?)}$/, '$2,$1$3}')`,
  ],
]

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith('/projections/pets.ts')) return loaded
    const source = changes.reduce((text, [from, to]) => {
      if (!from.test(text)) throw new Error(`The next release cannot be made: ${url} has no ${from}`)
      return text.replace(from, to)
    }, String(loaded.source))
    return { ...loaded, source }
  },
})
