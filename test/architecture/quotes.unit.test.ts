import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = 'examples/loans'
const example = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
const quoted = [...example, readFileSync('test/examples/loans.unit.test.ts', 'utf8')]
const quotes = [...readFileSync('docs/engine.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
  ([, text = '']) => text,
)

it('docs/engine.md quotes what is tested', () => {
  expect(quotes.length).toBeGreaterThan(5)
  expect(quotes.filter((quote) => !quoted.some((text) => text.includes(quote)))).toEqual([])
})

it('the example has at most 250 lines', () => {
  expect(example.join('').trimEnd().split('\n').length).toBeLessThanOrEqual(250)
})

const bounds = readFileSync('SECURITY.md', 'utf8')
const quotedBounds = [...bounds.matchAll(/`([\w/-]+\.ts): ([^`]+)`/g)].map(([, file = '', text = '']) => ({
  file,
  text,
}))

/** Whether the text is there, and no number goes on behind it. */
function isIn(code: string, text: string): boolean {
  return code
    .split(text)
    .slice(1)
    .some((behind) => !/^(?:[\d_.]| \*)/.test(behind))
}

it('SECURITY.md quotes the bounds of the code', () => {
  expect(quotedBounds.length).toBeGreaterThan(80)
  expect(quotedBounds.filter(({ file, text }) => !isIn(readFileSync(`src/engine/${file}`, 'utf8'), text))).toEqual([])
  expect(['max = 10', 'max = 100', 'max = 100 * 2'].map((text) => isIn('const max = 100 * 2\n', text))).toEqual([
    false,
    false,
    true,
  ])
})
