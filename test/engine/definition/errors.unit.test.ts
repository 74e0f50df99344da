import { expect, it } from 'vitest'
import { errorTable, type OwnErrors } from '../../../src/engine/door/errors.ts'
import { engineErrors } from '../../../src/engine/lib/errors/engine-errors.ts'

const lent = { status: 409, retry: 'no', meaning: 'Somebody has it.' } as const
const own: OwnErrors = { book_is_lent: lent, unknown_book: { ...lent, status: 422 } }

it('has the errors of the resources, of the engine and of the service, each with those of its status', () => {
  const table = errorTable(['book', 'author'], own)
  const codes = [...table.keys()]
  const of = (status: number) => codes.filter((code) => table.get(code)?.status === status)
  expect(of(404)).toEqual(['book_not_found', 'author_not_found', 'route_not_found', 'no_such_record'])
  expect(of(422)).toEqual(['idempotency_key_reused', 'unknown_book'])
  const at = codes.indexOf('book_is_lent')
  expect(codes.slice(at - 1, at + 2)).toEqual(['stream_full', 'book_is_lent', 'precondition_failed'])
  expect(codes.filter((code) => code in engineErrors)).toEqual(Object.keys(engineErrors))
  expect(table.get('author_not_found')).toEqual({
    status: 404,
    retry: 'no',
    effect: 'none',
    meaning: 'No author has this id.',
  })
  expect(table.get('book_is_lent')).toEqual({ ...lent, effect: 'none' })
})
