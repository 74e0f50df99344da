import { expect, it } from 'vitest'
import { replacing } from '../../vitest.config.ts'
import { readSources } from './imports.ts'

it('files that replace modules have a worker of their own', () => {
  const files = [...readSources(['test'])].filter(
    ([file, text]) => /\.unit\.test\.ts$/.test(file) && /^vi\.mock\(/m.test(text),
  )
  expect(files.map(([file]) => file).sort()).toEqual(replacing)
})
