import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

/** Words of the store, in any form: an order only as the thing that is bought. */
const words =
  /\b[pP]ets?\b|\b[pP]et[A-Z_]|[a-z]Pet|petstore|[aA]nimal|\borders\b|\border(?:Id|_\w| \d)|\bOrder(?!ed)[A-Z]|placeOrder/

it.each(['src/engine', 'test/engine'])('no file of %s names a pet, an animal or an order', (folder) => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const named = files.flatMap(({ parentPath, name }) => {
    const file = join(parentPath, name)
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.flatMap((line, i) => (words.test(line) ? `${file}:${i + 1}: ${line.trim()}` : []))
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
])('such a word is found: %s', (text) => expect(text).toMatch(words))

it.each(['in order of id', 'the order of the log', 'ordered', 'border', 'competing', 'repeated'])(
  'other words are not: %s',
  (text) => expect(text).not.toMatch(words),
)
