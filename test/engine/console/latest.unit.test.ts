import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../lib/eventually.ts'
import { type Refused, useTheatre } from './console-theatre.ts'

interface Event {
  readonly id: string
  readonly type: string
  readonly subject: string
}
interface Message {
  readonly after: string
  readonly events: readonly Event[]
}
interface Page {
  readonly before: string | null
  readonly events: readonly Event[]
}

const running = useTheatre()
const limited = useTheatre({ RATE_LIMIT: '3/60' })
const { ask, append } = running

/** Follows the tail; what has come so far. */
async function follow({ url, issue }: typeof running, query = '') {
  const left = new AbortController()
  onTestFinished(() => left.abort())
  const authorization = `Bearer ${issue('follower', ['read']).key}`
  const { body } = await fetch(`${url}/console/api/tail${query}`, { headers: { authorization }, signal: left.signal })
  const messages: Message[] = []
  async function take(): Promise<void> {
    let text = ''
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const parts = (text + chunk).split('\n\n')
      text = parts.pop() ?? ''
      messages.push(...parts.map((part) => JSON.parse(part.slice('data: '.length))))
    }
  }
  take().catch(() => {})
  const first = await eventually(() => messages[0] ?? expect.fail('nothing has come'))
  return { messages, before: `before=${first.after}` }
}

const seatAdded = (id: number) => ({
  ...{ specversion: '1.0', id: `seat ${id}`, source: '/elsewhere', type: 'theatre.SeatAdded.v1', subject: String(id) },
  ...{ time: 'yesterday', data: { id, name: 'one', rowId: 1, status: 'available' } },
})

describe('the latest events', () => {
  it('are those that took effect before the tail, which has those behind it: no gap, no double', async () => {
    const { messages, before } = await follow(running)
    const page = await ask<Page>(`console/api/events?${before}`)
    expect(page).toMatchObject({ status: 200, body: { before: null } })
    const key = String(running.seatId)
    const types = page.body.events.map(({ type, subject }) => [type, subject])
    expect(types).toEqual([
      ['theatre.BookingPlaced.v1', key],
      ['theatre.SeatAdded.v1', key],
    ])
    await append('70', { ...seatAdded(70), idempotencykey: 'secret' })
    await append('70', seatAdded(70)) // a duplicate
    await append('71', { no: 'event' })
    await append('72', seatAdded(72))
    await eventually(() =>
      expect(messages.slice(1).flatMap(({ events }) => events.map(({ id }) => id))).toEqual(['seat 70', 'seat 72']),
    )
    expect(await ask<Page>(`console/api/events?${before}`)).toMatchObject({ body: page.body })
    const later = await follow(running)
    const all = await ask<Page>(`console/api/events?${later.before}`)
    expect(all.body.events.map(({ id }) => id)).toEqual(['seat 72', 'seat 70', ...page.body.events.map(({ id }) => id)])
    expect(JSON.stringify(all.body)).not.toContain('secret')
  })

  it('are those of a stream, of a type', async () => {
    const { before } = await follow(running)
    const { body } = await ask<Page>(`console/api/events?${before}&stream=${running.seatId}&type=theatre.SeatAdded.v1`)
    expect(body).toMatchObject({ before: null, events: [{ subject: String(running.seatId) }] })
  })

  it('of another log are refused, and so is what is no place', async () => {
    const { before } = await follow(limited)
    for (const [place, why] of [
      [before, 'query: before belongs to another event log'],
      ['before=x', 'query: before was not issued by this service'],
    ]) {
      expect(await ask<Refused>(`console/api/events?${place}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_consistency_token', message: why },
      })
    }
  })

  it('of one answer count once where one batch has them all', async () => {
    const { before } = await follow(limited)
    const { key } = limited.issue('busy', ['read'])
    const answers = []
    for (let i = 0; i < 4; i++) answers.push(await limited.ask<Page>(`console/api/events?${before}`, { key }))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429])
  })
})
