import { expect, it } from 'vitest'
import { petCreated } from '../e2e/topic.ts'
import type { LogRecord } from './history.ts'
import { checkPublished } from './published.ts'

const partitions = 1
const pet = { id: 7, name: 'Rex', categoryId: 1, status: 'available' }

function recordOf(offset: number, eventId: string, streamversion = 1): LogRecord {
  return { partition: 0, offset, ...petCreated({ eventId, pet, streamversion }) }
}
/** The second one was superseded. */
const log = [recordOf(0, 'first'), recordOf(1, 'rival'), { ...recordOf(2, 'other'), key: '9', value: otherPet() }]
const [first, rival, other] = log as [LogRecord, LogRecord, LogRecord]

function otherPet(): string {
  return petCreated({ eventId: 'other', pet: { ...pet, id: 9 }, streamversion: 1 }).value
}
function found(published: readonly LogRecord[]): number {
  return checkPublished({ log, exchanges: [] }, partitions, published).length
}

it('the judge finds nothing where each stream has what took effect, whatever the order of streams', () => {
  expect(found([first, other])).toBe(0)
  expect(found([other, first])).toBe(0)
})

it('the judge finds an event of a category that is published under its id, as if it were of a pet', () => {
  const data = { id: 7, name: 'Dogs' }
  const category = recordOf(3, 'category')
  const said = {
    ...JSON.parse(String(category.value)),
    type: 'petstore.CategoryAdded.v1',
    subject: 'categories/7',
    data,
  }
  const added = { ...category, key: 'categories/7', value: JSON.stringify(said) }
  const history = { log: [...log, added], exchanges: [] }
  expect(checkPublished(history, partitions, [first, other, added])).toEqual([])
  expect(checkPublished(history, partitions, [first, other, { ...added, key: '7' }])).toHaveLength(2)
})

it.each<[string, readonly LogRecord[]]>([
  ['twice', [first, first, other]],
  ['not at all', [first]],
  ['though it was superseded', [first, rival, other]],
  ['in another partition', [{ ...first, partition: 1 }, other]],
  ['by a stranger', [first, other, { ...other, key: '10' }]],
])('the judge finds an event that is published %s', (_, published) => {
  expect(found(published)).toBe(1)
})
