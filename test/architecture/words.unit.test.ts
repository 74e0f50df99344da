import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readSources } from './imports.ts'

const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md', ...pagesIn('docs')]
const code = [...readSources(['src', 'projections', 'bench', 'test'])].filter(
  ([file]) => file !== 'test/architecture/words.unit.test.ts',
)

function pagesIn(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.md')).map((name) => join(folder, name))
}

/** A sentence should begin with its subject. "By default" and the like are idioms. */
const withoutSubject = /(?:^|[.!?] )(?:Of|By(?! (?:default|hand|design)\b)|In place of) /

function commentOf(line: string): string {
  return /^\s*(?:\/\*\*?|\*|\/\/) (.*)|\s\/\/ (.*)/.exec(line)?.slice(1).join('') ?? ''
}
const isBadComment = (line: string) => withoutSubject.test(commentOf(line))
const isBadProse = (line: string) => withoutSubject.test(line.replace(/^[\s>*|-]+/, ''))
/** The word is "pet", except in the name of the service, in quotes, and in the specification's tag. */
const isAnimal = (line: string) =>
  /\banimals?\b/i.test(line.replaceAll(/Petstore Animals|petstore-animals|"animal"|`animals`/g, ''))

function findIn(file: string, text: string, isBad: (line: string) => boolean): string[] {
  return text.split('\n').flatMap((line, index) => (isBad(line) ? [`${file}:${index + 1}`] : []))
}

it('no comment begins with Of, By or In place of', () => {
  expect(code.flatMap(([file, text]) => findIn(file, text, isBadComment))).toEqual([])
})

it('no sentence of a page does, and pets are called pets', () => {
  const isBad = (line: string) => isBadProse(line) || isAnimal(line)
  expect(pages.flatMap((file) => findIn(file, readFileSync(file, 'utf8'), isBad))).toEqual([])
})

it.each([
  '/** Of every answer with JSON. */',
  '  // By offset: what was parked.',
  ' * Read once. In place of the old one there is a new one.',
  'const kept = 3 // Of these so many are kept.',
])('finds a comment that does: %s', (line) => expect(isBadComment(line)).toBe(true))

it.each(['- Of each shard: others.', '| a | It is one. By another way.'])('finds a sentence that does: %s', (line) =>
  expect(isBadProse(line)).toBe(true),
)

it.each(['/** By default 30 s. */', '// One of many.', 'const names = list.of(By)'])('accepts %s', (line) =>
  expect(isBadComment(line)).toBe(false),
)

it('finds animals', () => expect(isAnimal('An animal was added.')).toBe(true))
