import { registerHooks } from 'node:module'

/*
 * Loaded before everything else (node --import), this makes the release before this one out of its source: it reads the
 * second version of the events of a pet, and writes the first one alone.
 */

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.endsWith('/src/store/events.ts')) return loaded
    const source = String(loaded.source)
    const version = 'version: 2,\n    data: PetSchema,'
    if (source.split(version).length !== 2) throw new Error(`The first step cannot be made: ${url} has no ${version}`)
    return { ...loaded, source: source.replace(version, `writes: 1, ${version}`) }
  },
})
