import { registerHooks } from 'node:module'

/*
 * Loaded before everything else (node --import), this makes a release of the service that shows each pet that is called large
 * with so long a description that no topic takes it. Its projection has the next version.
 */

const longer = `replace(/}$/, pet.name.startsWith('large') ? \`,"description":"\${'x'.repeat(262_144)}"}\` : '}')`

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith('/projections/pets.ts')) return loaded
    const source = String(loaded.source)
      .replace(/\bversion: (\d+),/, (_, version) => `version: ${Number(version) + 1},`)
      .replace('petDocument(pet)', `petDocument(pet).${longer}`)
    if (!source.includes(longer)) throw new Error(`The release cannot be made: ${url} shows no document of a pet`)
    return { ...loaded, source }
  },
})
