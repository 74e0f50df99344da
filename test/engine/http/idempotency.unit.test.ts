import { describe, expect, it } from 'vitest'
import { addSeatIdempotency, placeBookingIdempotency } from '../theatre/theatre.ts'
import { expectError, otherKey, testServer } from './test-services.ts'

const server = testServer()
const a12 = { name: 'A12', rowId: 7, status: 'available' } as const
const idempotencies = () => server.services.handled.map(({ idempotency }) => idempotency)

function post(key: string, headers: Record<string, string> = {}, body: object = { name: 'A12', rowId: 7 }) {
  return server.post('/v1/seats', body, { 'idempotency-key': key, ...headers })
}

describe('a POST with an Idempotency-Key', () => {
  it('is identified by API key, Idempotency-Key and content', async () => {
    await post('"booking 7"')
    await server.post('/v1/bookings', { seatId: 1 }, { 'idempotency-key': '"booking 7"' })
    expect(idempotencies()).toEqual([
      addSeatIdempotency('key-1', 'booking 7', a12),
      placeBookingIdempotency('key-1', 'booking 7', 1),
    ])
  })

  const quoted = ['x', 'x'.repeat(255), ' ', 'a, b; c']
  const bare = ['booking-7', '8e03978e-40d5-43e8-bc93-6894a57f9324', "*a:/!#$%&'*+.^_`|~", 'x'.repeat(255)]
  it.each<readonly [header: string, key: string]>([
    ...quoted.map((key) => [`"${key}"`, key] as const),
    ...bare.map((key) => [key, key] as const),
    ...['a=1', 'a', ' a=?1;b="x; y"; *c-d=:YWI=:', 'a=-1.5'].map((parameters) => [`"x";${parameters}`, 'x'] as const),
    ['"quote \\" and backslash \\\\"', 'quote " and backslash \\'],
    [`"${'\\\\'.repeat(255)}"`, '\\'.repeat(255)],
  ])('%s is a key', async (header, key) => {
    expect((await post(header)).statusCode).toBe(201)
    expect(idempotencies()).toEqual([addSeatIdempotency('key-1', key, a12)])
  })

  it.each([
    ...[
      '',
      '""',
      `"${'x'.repeat(256)}"`,
      'x'.repeat(256),
      'booking 7',
      '"booking-7',
      '"booking-7" x',
      '"booking-7";',
      '"booking-7" ;a',
      '"booking-7";A=é',
    ],
    ...['booking-7;a=1', '"a\\n"', '"a"b"', '"a\tb"', '"Zo\u00eb"', 'Zo\u00eb'],
    ...['"booking-7", "booking-7"', 'booking-7, booking-7'], // as Node joins two headers
  ])('%j is refused, and nothing is stored', async (header) => {
    expectError(await post(header), 400, 'invalid_idempotency_key', 'Idempotency-Key')
    const booking = await server.post('/v1/bookings', { seatId: 0 }, { 'idempotency-key': header })
    expectError(booking, 400, 'invalid_idempotency_key', 'Idempotency-Key')
    expect(server.services.handled).toEqual([])
  })

  it('is 422 for another body, and another request for another API key or seat', async () => {
    await post('"k"')
    expectError(await post('"k"', {}, { name: 'Ada', rowId: 7 }), 422, 'idempotency_key_reused')
    expect((await post('"k"', { authorization: `Bearer ${otherKey}` })).json()).toMatchObject({ id: 2 })
    const bookings = [1, 2].map((seatId) => server.post('/v1/bookings', { seatId }, { 'idempotency-key': '"k"' }))
    for (const booking of await Promise.all(bookings))
      expect(booking.headers).not.toHaveProperty('idempotency-replayed')
  })
})
