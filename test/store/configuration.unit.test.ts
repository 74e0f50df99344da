import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { environmentOf } from '../../src/engine/app/environment.ts'

it('docs/configuration.md lists every variable with its default, and no others', () => {
  const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| ((?:`[A-Z_]+`(?:, )?)+) \| (.*?) \|/gm)].flatMap(([, names = '', fallback]) =>
    names.split(', ').map((name) => [name.slice(1, -1), fallback]),
  )
  const expected = Object.entries<object>(environmentOf({ topic: 'petstore.pets', prefix: 'petstore' }).properties).map(
    ([name, schema]) => [name, 'default' in schema ? `\`${schema.default}\`` : ''],
  )
  expect(new Set(rows.map(([name]) => name))).toEqual(new Set(expected.map(([name]) => name)))
  for (const [name, fallback] of expected) {
    if (fallback !== '') expect(rows).toContainEqual([name, fallback])
  }
})
