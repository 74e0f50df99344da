import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeWithBrokers } from '../brokers/describe.ts'
import { type Answer, Client, keyed, outcomeOf } from '../e2e/client.ts'
import { brokerEnvironment, type Environment, startProgram, startService } from '../e2e/service.ts'
import { temporaryFolder } from '../lib/temporary-folder.ts'

const command = [process.execPath, fileURLToPath(new URL('../../examples/loans/main.ts', import.meta.url))]
const largest = 9223372036854775807n

const idOf = ({ body }: Answer) => (body as { id: number }).id

/** All that the engine gives a service, seen on one that it knows nothing of. */
async function expectLibrary(environment: Environment): Promise<void> {
  const client = new Client(await startService(environment, command))
  const post = (path: string, body: object, headers = {}) => client.send('POST', path, body, headers)

  const added = await post('/v1/books', { title: 'Emma' }, keyed('emma'))
  const book = idOf(added)
  expect(outcomeOf(added)).toBe('201')
  expect([added.headers.get('location'), added.body]).toEqual([
    `/v1/books/${book}`,
    { id: book, title: 'Emma', status: 'in' },
  ])
  const lent = await post('/v1/loans', { bookId: book, memberId: 3 }, keyed('emma'))
  const loan = idOf(lent)
  expect([outcomeOf(lent), lent.headers.get('location')]).toEqual(['201', `/v1/loans/${loan}`])
  expect(outcomeOf(await post('/v1/loans', { bookId: book, memberId: 4 }))).toBe('409 book_is_lent')
  expect(outcomeOf(await post('/v1/loans', { bookId: 999_999, memberId: 4 }))).toBe('422 unknown_book')
  const tooLarge = `{"bookId":${largest},"memberId":4}`
  const refused = await client.request('/v1/loans', { method: 'POST', body: tooLarge })
  expect(outcomeOf(refused)).toBe('400 invalid_request')

  const tag = lent.headers.get('etag') ?? ''
  const change = (what: string, headers = {}) => client.send('PATCH', `/v1/loans/${loan}`, { do: what }, headers)
  const extended = await change('extend', { 'if-match': tag })
  expect(outcomeOf(extended)).toBe('200')
  expect(outcomeOf(await change('extend', { 'if-match': tag }))).toBe('412 precondition_failed')
  expect((await client.request('/v1/books?status=lent')).body).toEqual([{ id: book, title: 'Emma', status: 'lent' }])
  expect(outcomeOf(await change('return'))).toBe('200')
  expect(outcomeOf(await change('return'))).toBe('200')
  expect(outcomeOf(await change('extend'))).toBe('409 loan_is_over')
  expect((await client.request('/v1/loans?status=returned')).body).toMatchObject([{ id: loan, status: 'returned' }])
  expect((await client.request(`/v1/loans?id=1,${loan}&status=returned`)).body).toMatchObject([{ id: loan }])
  const idsOf = async (query: string) =>
    ((await client.request(`/v1/loans?${query}`)).body as { id: number }[]).map(({ id }) => id)
  for (const query of [`bookId=${book}`, 'memberId=3', 'memberId=3&status=returned', `status=returned&bookId=${book}`])
    expect([query, await idsOf(query)]).toEqual([query, [loan]])
  for (const query of ['memberId=4', 'memberId=3&status=open', `bookId=${book + 1}`])
    expect(await idsOf(query)).toEqual([])
  expect((await client.request(`/v1/loans?bookId=${book}&memberId=3`)).body).toMatchObject({
    status: 400,
    message: 'query: bookId and memberId cannot be used together; bookId goes with status, memberId goes with status',
  })
  expect(outcomeOf(await client.request('/v1/loans/999999'))).toBe('404 loan_not_found')

  const again = await post('/v1/loans', { bookId: book, memberId: 3 }, keyed('emma'))
  expect([again.headers.get('idempotency-replayed'), again.text]).toEqual(['true', lent.text])

  const open = idOf(await post('/v1/loans', { bookId: book, memberId: 3 }))
  const waiting = idOf(await post('/v1/reservations', { bookId: book, memberId: 4 }, keyed('emma')))
  expect(outcomeOf(await client.send('PATCH', `/v1/loans/${open}`, { do: 'return' }))).toBe('200')
  expect((await client.request(`/v1/loans/${waiting}`)).body).toMatchObject({ memberId: 4, status: 'open' })
  expect((await client.request(`/v1/reservations/${waiting}`)).body).toMatchObject({ memberId: 4, status: 'lent' })

  const lentAndReturned = ['BookLent', 'BookReserved', 'BookReturned', 'BookLent']
  const types = ['BookAdded', 'BookLent', 'LoanExtended', 'BookReturned', ...lentAndReturned].map(
    (type) => `library.${type}.v1`,
  )
  const history = (await client.request(`/v1/books/${book}/events`)).body as { type: string }[]
  expect(history.map(({ type }) => type)).toEqual(types)
  const { events } = await client.told(types.length, `?from=start&bookId=${book}`)
  expect(events.map(({ type }) => type)).toEqual(types)

  const document = (await client.request('/openapi.json')).body as { info: object; paths: object }
  expect([document.info, Object.keys(document.paths).sort()]).toMatchObject([
    { title: 'Library' },
    [
      ...['/books', '/books/{bookId}', '/books/{bookId}/events', '/events', '/loans', '/loans/{loanId}'],
      ...['/reservations', '/reservations/{reservationId}'],
    ],
  ])
  expect((await client.request('/docs/errors')).text).toContain('id="book_is_lent"')

  for (const [line, printed] of [
    ['verify', /all as the log says/],
    ['rebuild', /the new generation has taken over/],
    ['verify', /all as the log says/],
    ['stats', /^loans +returned +2$/m],
    ['events --book 1', /^EVENT +TIME +TYPE +BOOK +VERSION +OUTCOME$/m],
  ] as const) {
    const { ended, output, errors } = startProgram('../../examples/loans/main.ts', environment, ...line.split(' '))
    expect([line, await ended, errors()]).toEqual([line, 0, expect.anything()])
    expect(output()).toMatch(printed)
  }
}

it('the library lends its books, embedded', () => expectLibrary({ DATA_DIR: temporaryFolder() }))

describeWithBrokers('on Kafka and Redis', (brokers) => {
  it('the library lends its books', () => expectLibrary(brokerEnvironment(brokers)))
})
