import { expect } from 'vitest'
import { statusIndex } from '../../../src/domain/read-pets.ts'
import type { Position } from '../../../src/event-log/event-log.ts'
import { ServiceError } from '../../../src/lib/errors.ts'
import type { RangeAnswer } from '../../../src/read-models/read-models.ts'
import type { Create, Read } from './clients.ts'
import { documentsOf, petsOf, type StoredPet } from './log-contents.ts'

/** Every answer to a GET is true, and as recent as it has to be. */
export function checkReads(reads: readonly Read[], creates: readonly Create[], stored: readonly StoredPet[]): void {
  for (const read of reads) {
    const { answer, answered, failure } = read
    if (answer !== undefined) checkAnswer(read, answer, seenBefore(read, reads, creates), stored)
    else if (answered !== undefined && !(failure instanceof ServiceError)) throw failure // a bug
  }
}

function checkAnswer(
  { options, atLeast }: Read,
  answer: RangeAnswer,
  seen: readonly Position[],
  stored: readonly StoredPet[],
): void {
  const has = ({ partition, offset }: Position) => (answer.moment.checkpoints.get(partition)?.next ?? 0) > offset
  const pets = petsOf(stored.filter(({ position }) => has(position)))
  const asked = pets.filter(({ status }) => options.index === undefined || options.index === statusIndex(status))
  expect(answer.documents, 'an answer is what the log says up to its positions').toBe(documentsOf(asked))
  expect(
    atLeast.filter((position) => !has(position)),
    'the answer lacks of its token',
  ).toEqual([])
  expect(
    seen.filter((position) => !has(position)),
    'the answer lacks of what the process said before',
  ).toEqual([])
}

/** What this process had shown, or had said that it can be read, before this read was asked for. */
function seenBefore(read: Read, reads: readonly Read[], creates: readonly Create[]): Position[] {
  const isBefore = ({ api, answered = Infinity }: Read | Create) => api === read.api && answered < read.asked
  const shown = reads.filter(isBefore).flatMap(({ answer }) => (answer ? lastPositions(answer) : []))
  const created = creates.filter(isBefore).flatMap(({ answer }) => (answer?.readable ? [answer.position] : []))
  return [...shown, ...created]
}

function lastPositions({ moment }: RangeAnswer): Position[] {
  return [...moment.checkpoints].map(([partition, { next }]) => ({ partition, offset: next - 1 }))
}
