import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const folder = 'examples/loans'
const example = readdirSync(folder).map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
const quotes = [...readFileSync('docs/engine.md', 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
  ([, text = '']) => text,
)

it('docs/engine.md quotes what is tested', () => {
  expect(quotes.length).toBeGreaterThan(5)
  expect(quotes.filter((quote) => !example.some((text) => text.includes(quote)))).toEqual([])
})

it('the example has at most 250 lines', () => {
  expect(example.join('').trimEnd().split('\n').length).toBeLessThanOrEqual(250)
})
