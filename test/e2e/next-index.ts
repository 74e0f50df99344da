import { registerHooks } from 'node:module'

/*
 * Loaded before everything else (node --import), this makes a next release that finds pets by their name too. It touches
 * what an author touches for it, and nothing else: the resource, and the projection that gives the value.
 */

const changes: Readonly<Record<string, readonly [text: string, next: string]>> = {
  '/src/store/pets.ts': [
    '  filters: {\n',
    "  filters: {\n    name: { type: 'string', description: 'The name' } as never,\n",
  ],
  '/projections/pets.ts': ['filters: { status: pet.status,', 'filters: { name: pet.name, status: pet.status,'],
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const [, change] = Object.entries(changes).find(([file]) => url.endsWith(file)) ?? []
    if (change === undefined) return loaded
    const [text, next] = change
    const source = String(loaded.source)
    if (!source.includes(text)) throw new Error(`The next release cannot be made: ${url} has no ${text}`)
    return { ...loaded, source: source.replace(text, next) }
  },
})
