import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, normalize } from 'node:path'
import { expect, it } from 'vitest'

const isForeign = (name: string) => name === 'node_modules' || name === 'data' || name === '.git'
const pages = globSync(['**/*.md', '.ci/**/*.md'], { exclude: isForeign })
const others = globSync('{src,projections,ops,examples,bench,test}/**/*.{ts,py,js,yml,json,html}', {
  exclude: isForeign,
}).filter((file) => file !== 'test/architecture/links.unit.test.ts')

/** Each link that leads nowhere, in words. */
function findDead(file: string, text: string): string[] {
  return linksOf(text).flatMap((link) => {
    const [path = '', anchor] = link.split('#')
    return isAlive(path === '' ? file : normalize(join(file, '..', path)), anchor) ? [] : [`${file}: ${link}`]
  })
}

/** As `findDead`, for what a comment or a message names by its path from the root of the repository. */
function findDeadMentions(file: string, text: string): string[] {
  const mentions = [...text.matchAll(/(?<![\w./-])docs\/[\w./-]+\.md(?:#([\w-]+))?/g)]
  return mentions.flatMap(([mention, anchor]) =>
    isAlive(mention.split('#')[0] ?? '', anchor) ? [] : [`${file}: ${mention}`],
  )
}

/** Each file of the repository that a page names and that is not there. Stars and braces stand for several. */
function findDeadPaths(file: string, text: string): string[] {
  const named = [...text.matchAll(/`((?:src|projections|test|bench|examples|ops)\/[\w./*{},-]+\.[a-z]+)`/g)]
  return named.flatMap(([, path = '']) => (globSync(path).length > 0 ? [] : [`${file}: ${path}`]))
}

const decisions = readdirSync('docs/decisions').map((name) => name.slice(0, 4))

/** What is cited as if it were there: a decision that is none, or a section of a page that is no standard. */
function findDeadCitations(file: string, text: string): string[] {
  const numbers = [...text.matchAll(/\bdecisions? (\d{4})\b/g)].filter(([, number = '']) => !decisions.includes(number))
  const sections = [...text.matchAll(/\b[a-z]+ sections? \d[\d.]*/g)]
  return [...numbers, ...sections].map(([citation]) => `${file}: ${citation}`)
}

function isAlive(path: string, anchor: string | undefined): boolean {
  if (!existsSync(path)) return false
  return anchor === undefined || (statSync(path).isFile() && anchorsOf(readFileSync(path, 'utf8')).includes(anchor))
}

const fences = /^ *(```|~~~).*?^ *\1/gms

/** The targets of links and images within the repository. */
function linksOf(markdown: string): string[] {
  const text = markdown.replaceAll(fences, '').replaceAll(/`[^`]*`/g, '')
  const patterns = [/\]\(\s*<?([^\s()<>]+)>?[^()]*\)/g, /^ *\[[^\]]+\]: *(\S+)/gm, /\b(?:href|src)="([^"]*)"/g]
  const targets = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, target = '']) => target))
  return targets.filter((target) => !/^[a-z]+:/.test(target))
}

/** As GitHub makes them: explicit ids, and one of each heading, numbered where another heading has the same words. */
function anchorsOf(markdown: string): string[] {
  const text = markdown.replaceAll(fences, '')
  const seen = new Map<string, number>()
  const headings = [...text.matchAll(/^#{1,6} +(.*?) *#*$/gm)].map(([, heading = '']) => {
    const words = heading.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = words.replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
  return [...headings, ...[...text.matchAll(/\b(?:id|name)="([^"]*)"/g)].map(([, id = '']) => id)]
}

it('every link and every anchor of a page leads somewhere', () => {
  expect(pages.length).toBeGreaterThan(40)
  expect(pages.flatMap((file) => findDead(file, readFileSync(file, 'utf8')))).toEqual([])
})

it('every page that code and settings name is there, with its anchor', () => {
  const all = others.map((file) => findDeadMentions(file, readFileSync(file, 'utf8')))
  expect(all.flat()).toEqual([])
})

it('every file that a page names is there', () => {
  expect(pages.flatMap((file) => findDeadPaths(file, readFileSync(file, 'utf8')))).toEqual([])
  const named = '`src/main.ts`, `test/{architecture,none}/*.unit.test.ts`, `src/none.ts`, `test/none/*.ts`'
  expect(findDeadPaths('a.md', named)).toEqual(['a.md: src/none.ts', 'a.md: test/none/*.ts'])
})

it('every decision that is cited is there, and every section is one of a standard', () => {
  const all = [...others, ...pages].map((file) => findDeadCitations(file, readFileSync(file, 'utf8')))
  expect(all.flat()).toEqual([])
})

it('finds a citation of what is not there', () => {
  const text =
    'decision 9999, decision 0001, design section 3, RFC 9110 section 5.6, JSON format 1.0, section 3 (section 4.1)'
  expect(findDeadCitations('a.ts', text)).toEqual(['a.ts: decision 9999', 'a.ts: design section 3'])
})

it.each([
  '[a](docs/none.md)',
  '![a](docs/images/none.png "title")',
  '[a\nb](docs/errors.md#none)',
  '[`code`](#none)',
  '[a](docs/images/console.png#none)',
  '<a href="none.md">a</a>',
  '[a]: docs/none.md',
])('finds what leads nowhere: %s', (text) => expect(findDead('README.md', text)).toHaveLength(1))

it.each(['[a](https://none.example)', '`[a](none.md)`', '```sh\n[a](none.md)\n```', '[a](docs/errors.md#errors)'])(
  'accepts %s',
  (text) => expect(findDead('README.md', text)).toEqual([]),
)

it('makes anchors as GitHub does', () => {
  const headings = [
    '# `GET /v1/pets`: a *pet*',
    '## What is_it?',
    '### What is_it?',
    '## [Über](a.md) uns',
    '<a id="x">',
  ]
  const anchors = ['get-v1pets-a-pet', 'what-is_it', 'what-is_it-1', 'über-uns', 'x']
  expect(anchorsOf(headings.join('\n'))).toEqual(anchors)
})

it('finds a page that code names and that is gone', () => {
  expect(findDeadMentions('a.ts', '// see docs/none.md, docs/errors.md and docs/errors.md#none')).toHaveLength(2)
})
