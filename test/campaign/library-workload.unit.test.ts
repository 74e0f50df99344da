import { expect, it } from 'vitest'
import { library } from '../../examples/loans/library.ts'
import { openInMemory } from '../../src/engine/testing/index.ts'
import { isWrite, type Operation } from '../judge/operations.ts'
import { Random } from '../lib/random.ts'
import { LibraryWorkload } from './library-workload.ts'
import type { Answered, Asked } from './recorder.ts'

/** What one client asks, of the library itself. */
async function askedFor(turns: number): Promise<readonly Answered[]> {
  await using opened = await openInMemory(library)
  const workload = new LibraryWorkload(new Random(1))
  const answers: Answered[] = []
  const ask = async (asked: Asked) => {
    const { operation, id = 0, wanted, page } = asked
    const isOfBook = operation === 'lendBook' || operation === 'reserveBook'
    const body = isOfBook ? { bookId: id, ...wanted } : wanted
    const query = page && { limit: `${page.limit}`, ...page.filters }
    const answer = await opened.run(operation, {
      ...(!isOfBook && operation !== 'addBook' && page === undefined && { id }),
      ...(isWrite(asked) && body && { body: { ...body } }),
      ...(query && { query }),
    })
    const told = { ...asked, status: answer.status, body: answer.body, hasNext: false } as unknown as Answered
    answers.push(told)
    if (answer.status < 300) workload.tell(told)
    return told
  }
  for (let turn = 0; turn < turns; turn++) {
    const acting = workload.act()
    for (let next = acting.next(); !next.done; ) next = acting.next(await ask(next.value))
  }
  return answers
}

it('asks for all that the library does, with each filter, and returns books that others wait for', async () => {
  const answers = await askedFor(1500)
  const operations = new Set<string>(answers.map(({ operation }) => operation))
  const all = ['addBook', 'lendBook', 'reserveBook', 'changeLoan', 'listBookEvents'] satisfies Operation[]
  const lists = ['Book', 'Loan', 'Reservation'].flatMap((noun) => [`get${noun}`, `list${noun}s`])
  expect([...operations].sort()).toEqual([...all, ...lists].sort())
  const filters = answers.flatMap(({ operation, page }) => (page?.filters ? `${operation} ${page.filters.status}` : []))
  expect(new Set(filters).size).toBe(6)
  const lentOn = answers.flatMap(({ operation, body }) => (operation === 'listBookEvents' ? [body].flat() : []))
  expect(lentOn.some((event) => (event as { streamindex?: number }).streamindex === 1)).toBe(true)
})
