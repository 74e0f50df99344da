import { describe, expect, it } from 'vitest'
import { categories } from '../../projections/categories.ts'
import { given } from '../../src/engine/testing/index.ts'
import { type CategoryChange, type CategoryId, type NewCategory, toCategory } from '../../src/store/category.ts'
import type { CategoryEvent } from '../../src/store/category-events.ts'
import { type CategoryCommand, decide, evolve } from '../../src/store/category-stream.ts'
import { categoryStream } from '../../src/store/service.ts'

const id = 7 as CategoryId
const other = 8 as CategoryId
const dogs: NewCategory = { name: 'Dogs' }
const described: NewCategory = { ...dogs, description: 'They like walks' }

const added = (category = dogs): CategoryEvent => ({ type: 'CategoryAdded', id, ...category })
const changed = (category: NewCategory, of = id): CategoryEvent => ({ type: 'CategoryChanged', id: of, ...category })
const removed: CategoryEvent = { type: 'CategoryRemoved', categoryId: id }

const create = (newCategory = dogs): CategoryCommand => ({ type: 'createCategory', id, newCategory })
const change = (change: CategoryChange): CategoryCommand => ({ type: 'changeCategory', id, change })
const remove: CategoryCommand = { type: 'removeCategory', id }

type Expected = CategoryEvent | 'unchanged' | 'conflict' | 'category_not_found'

describe('a category', () => {
  it.each<[what: string, events: CategoryEvent[], command: CategoryCommand, expected: Expected]>([
    ['is added', [], create(), added()],
    ['is added with a description', [], create(described), added(described)],
    ['is added once', [added()], create(), 'conflict'],
    ['gets another name', [added()], change({ name: 'Hounds' }), changed({ name: 'Hounds' })],
    [
      'keeps its description then',
      [added(described)],
      change({ name: 'Hounds' }),
      changed({ ...described, name: 'Hounds' }),
    ],
    ['gets a description', [added()], change({ description: 'They like walks' }), changed(described)],
    ['gets both', [added()], change({ ...described, name: 'Hounds' }), changed({ ...described, name: 'Hounds' })],
    ['loses its description by null', [added(described)], change({ description: null }), changed(dogs)],
    ['is not changed to what it is', [added(described)], change(described), 'unchanged'],
    ['is not changed to what it became', [added(), changed(described)], change(described), 'unchanged'],
    ['is not changed by null where there is no description', [added()], change({ description: null }), 'unchanged'],
    ['is not changed where there is none', [], change({ name: 'Hounds' }), 'category_not_found'],
    ['is not changed once it is gone', [added(), removed], change(dogs), 'category_not_found'],
    ['is removed', [added()], remove, removed],
    ['is removed as it became', [added(), changed(described)], remove, removed],
    ['is not removed twice', [added(), removed], remove, 'unchanged'],
    ['is not removed where there is none', [], remove, 'category_not_found'],
    ['is not added again', [added(), removed], create(), 'conflict'],
  ])('%s', (_, events, command, expected) => {
    const decided = given(categoryStream, ...events).when(command)
    if (expected === 'unchanged') decided.unchanged()
    else if (typeof expected === 'string') decided.rejected(expected)
    else decided.gives(expected)
  })

  it.each<[what: string, events: CategoryEvent[], event: CategoryEvent, reason: RegExp]>([
    ['a second addition', [added()], added(), /category 7 exists already/],
    ['an addition of one that is gone', [added(), removed], added(), /category 7 exists already/],
    ['a change of none', [], changed(dogs), /no category 7/],
    ['a change of another one', [added()], changed(dogs, other), /about category 8/],
    ['a change of one that is gone', [added(), removed], changed(described), /category 7 is removed/],
    ['a removal of none', [], removed, /no category 7/],
    ['a removal of another one', [added()], { type: 'CategoryRemoved', categoryId: other }, /about category 8/],
    ['a second removal', [added(), removed], removed, /category 7 is removed/],
  ])('is never what %s would make of it', (_, events, event, reason) => {
    given(categoryStream, ...events)
    expect(() => given(categoryStream, ...events, event)).toThrow(reason)
  })

  it('is shown as it became, until it is gone', () => {
    given(categoryStream).shows()
    given(categoryStream, added(), changed(described)).shows({ id, ...described })
    given(categoryStream, added(), changed(described), changed(dogs)).shows({ id, ...dogs })
    given(categoryStream, added(described), removed).shows()
  })

  it('has its members in one order, whatever order a request or an event has', () => {
    const mixed = { description: 'They like walks', name: 'Dogs', id }
    const text = '{"id":7,"name":"Dogs","description":"They like walks"}'
    expect(JSON.stringify(toCategory(id, mixed))).toBe(text)
    expect(JSON.stringify(decide(create(mixed), undefined))).toBe(`{"type":"CategoryAdded",${text.slice(1)}`)
    const after = evolve(undefined, { event: { ...mixed, type: 'CategoryAdded' }, version: 1, time: '' })
    const later = evolve(after, { event: { ...mixed, type: 'CategoryChanged' }, version: 2, time: '' })
    for (const state of [after, later])
      expect(categories.documents(state)).toEqual([{ collection: 'categories', id, json: text }])
  })
})
