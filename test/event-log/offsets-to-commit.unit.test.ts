import { expect, it } from 'vitest'
import { OffsetsToCommit } from '../../src/event-log/kafka/kafka-consumer.ts'

function held(...partitions: number[]): OffsetsToCommit {
  const offsets = new OffsetsToCommit()
  offsets.assigned(partitions)
  return offsets
}

/** Commits what is pending; resolves to it. */
function commit(offsets: OffsetsToCommit): readonly [number, number][] {
  const pending = offsets.pending()
  offsets.committed(pending)
  return pending
}

it('what is done is committed once', () => {
  const offsets = held(0, 1)
  offsets.done(0, 5)
  offsets.done(1, 7)
  expect(commit(offsets)).toEqual([
    [0, 5],
    [1, 7],
  ])
  offsets.done(1, 8)
  expect(commit(offsets)).toEqual([[1, 8]])
  expect(offsets.pending()).toEqual([])
})

it('what could not be committed stays to be, also on an idle system', () => {
  const offsets = held(0)
  offsets.done(0, 5)
  offsets.pending()
  expect(offsets.pending()).toEqual([[0, 5]])
})

it('what is done while a commit is under way stays to be committed', () => {
  const offsets = held(0)
  offsets.done(0, 5)
  const underWay = offsets.pending()
  offsets.done(0, 6)
  offsets.committed(underWay)
  expect(offsets.pending()).toEqual([[0, 6]])
})

it('goes where the reader goes, to an empty partition and back to the beginning, before anything is done there', () => {
  const offsets = held(0)
  offsets.sought(0, 0)
  expect(commit(offsets)).toEqual([[0, 0]])
  offsets.done(0, 9)
  commit(offsets)
  offsets.sought(0, 0)
  expect(commit(offsets)).toEqual([[0, 0]])
})

it('stays when the reader looks once more at the last record done', () => {
  const offsets = held(0)
  offsets.done(0, 9)
  commit(offsets)
  offsets.sought(0, 8)
  expect(offsets.pending()).toEqual([])
})

it('what is done does not get lost in an assignment that keeps the partition', () => {
  const offsets = held(0, 1)
  offsets.done(0, 5)
  offsets.assigned([0])
  expect(offsets.pending()).toEqual([[0, 5]])
})

it('forgets partitions lost: somebody else commits for them, and what is said of them later is news', () => {
  const offsets = held(0, 1)
  offsets.done(0, 5)
  offsets.done(1, 5)
  const underWay = offsets.pending()
  offsets.assigned([0])
  offsets.committed(underWay)
  offsets.assigned([0, 1])
  offsets.done(1, 5)
  expect(offsets.pending()).toEqual([[1, 5]])
})
