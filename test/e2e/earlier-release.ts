import { registerHooks } from 'node:module'

/*
 * Loaded before everything else (node --import), this makes an earlier release of the service out of the source of this
 * one: its projection has the version before, and it knows the first version of the events of a pet alone.
 */

const changes: Readonly<Record<string, readonly [text: RegExp, earlier: string][]>> = {
  '/projections/pets.ts': [[/\bversion: \d+,/, 'version: 1,']],
  '/src/store/events.ts': [
    [/version: 2,\n {4}data: PetSchema,/, 'version: 1, data: PetV1Schema,'],
    [/earlier: \{[\s\S]*?\n {4}\},\n/, ''],
    [/examples: second\.map/, 'examples: first.map'],
  ],
}

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const [, of = []] = Object.entries(changes).find(([file]) => url.endsWith(file)) ?? []
    if (of.length === 0) return loaded
    const source = of.reduce((text, [from, to]) => {
      if (!from.test(text)) throw new Error(`The earlier release cannot be made: ${url} has no ${from}`)
      return text.replace(from, to)
    }, String(loaded.source))
    return { ...loaded, source }
  },
})
