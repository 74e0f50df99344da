import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { bugsIn, plant, plantedBugs } from './bugs.ts'

it('each bug has a name, and a place in its file, of its own', () => {
  const planted = new Map<string, string>()
  for (const bug of plantedBugs) {
    const source = planted.get(bug.file) ?? readFileSync(bug.file, 'utf8')
    planted.set(bug.file, plant(bug, source))
  }
  expect(new Set(plantedBugs.map(({ name }) => name)).size).toBe(plantedBugs.length)
})

it.each(plantedBugs)('a test is to catch that $name', ({ caughtBy: { file, title } }) => {
  expect(literalsIn(file).filter((literal) => isTitle(literal, title))).not.toEqual([])
})

it.each([
  ['a wait ends', 'a wait ends', true],
  ['a wait ends', 'a wait ends early', false],
  ['a wait for %s ends', 'a wait for a record ends', true],
  ['%s', 'a wait ends', false], // says nothing
  ['a wait for a record ends', 'a wait for a…', true],
])('the title %j is reported as %j: %j', (literal, title, expected) => expect(isTitle(literal, title)).toBe(expected))

it.each([
  'a bug\n- a\n+ b\n> t: t',
  '# src\n\na bug\n+ b\n> t: t',
  '# src\n\na bug\n- a\n+ b',
  '# src\na bug\n- a\n> t: t',
])('%j is no list of bugs', (text) => expect(() => bugsIn(text)).toThrow('no planted bug'))

/** With those of files that it imports, where the cases of a contract are. */
function literalsIn(file: string, seen = new Set<string>()): string[] {
  if (seen.has(file)) return []
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const imported = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, name = '']) => join(dirname(file), name))
  // An apostrophe stands behind a letter.
  const own = [...text.matchAll(/(?<!\w)(['"`])((?:\\.|(?!\1).)*)\1/g)].map(([, , literal = '']) => literal)
  return [...own, ...imported.filter((each) => each.startsWith('test/')).flatMap((each) => literalsIn(each, seen))]
}

/** Vitest puts values in place of %s and $name, and cuts off what is long there. */
function isTitle(literal: string, title: string): boolean {
  const text = literal.replaceAll(/\\(.)/g, '$1')
  if (title.endsWith('…')) return text.startsWith(title.slice(0, -1))
  const fixed = text.split(/%[a-z]|\$\w+/)
  if (fixed.length > 1 && fixed.join('').trim().length < 10) return false
  return RegExp(`^${fixed.map((part) => RegExp.escape(part)).join('.+')}$`).test(title)
}
