import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { storeWords } from '../lib/store-words.ts'

it.each(['src/engine', 'test/engine'])('no file of %s names a pet, an animal or an order', (folder) => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const named = files.flatMap(({ parentPath, name }) => {
    const file = join(parentPath, name)
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.flatMap((line, i) => (storeWords.test(line) ? `${file}:${i + 1}: ${line.trim()}` : []))
  })
  expect(files.length).toBeGreaterThan(150)
  expect(named).toEqual([])
})

it.each([
  'a petstore',
  'newPet',
  'class PetCreated',
  'An animal',
  '/store/orders',
  'orderId',
  'order_not_found',
  'order 12',
])('such a word is found: %s', (text) => expect(text).toMatch(storeWords))

it.each(['in order of id', 'the order of the log', 'ordered', 'border', 'competing', 'repeated'])(
  'other words are not: %s',
  (text) => expect(text).not.toMatch(storeWords),
)
