import { describe, expect, it } from 'vitest'
import { type EventSources, tellEvent } from '../../../src/engine/console/one-event.ts'
import { ServiceError } from '../../../src/engine/lib/errors/errors.ts'
import { runbookHeadings } from '../../../src/engine/operations/runbook.ts'
import { eventually } from '../../lib/eventually.ts'
import { theatre } from '../theatre/theatre.ts'
import { type Refused, useTheatre } from './console-theatre.ts'

const running = useTheatre()
const { ask, append, lines } = running
const envelope = { specversion: '1.0', source: '/elsewhere', subject: '' }
const outcomeOf = async (place: string) =>
  (await ask<{ outcome: string; why: string }>(`console/api/events/${place}`)).body

describe('the status', () => {
  it('names service and process, and says that all is well', async () => {
    const { headers, body } = await ask<Record<string, unknown>>('console/api/status')
    expect(headers.get('may-operate')).toBe('true')
    expect(body).toMatchObject({
      service: {
        title: 'Theatre',
        kinds: [{ noun: 'seat', prefix: '' }],
        types: expect.arrayContaining(['theatre.SeatAdded.v1']),
      },
      process: { name: expect.stringMatching(/\/\d+$/), role: 'all', release: expect.any(String) },
      problems: [],
      lag: { status: 'known' },
    })
  })

  it('has figures since a number', async () => {
    const { body } = await ask<{ everyMs: number; marks: object[] }>('console/api/figures?after=0')
    expect(body).toMatchObject({ everyMs: 5000, marks: [{ what: 'this process started' }] })
  })

  it('names the process that projects each partition', async () => {
    const { body } = await ask<{ process: { name: string } }>('console/api/status')
    expect(await ask('console/api/projectors')).toMatchObject({ status: 200, body: { 0: body.process.name } })
  })

  it('has the generations and the runbook', async () => {
    const { body } = await ask<object>('console/api/generations')
    expect(body).toMatchObject({ generations: [{ state: 'active', documents: { seats: 1, bookings: 1 } }] })
  })

  it('says that nothing is published, embedded', async () => {
    expect(await ask('console/api/published')).toMatchObject({ status: 200, body: [] })
  })

  it('has the runbook in the words of the service, and what is under each heading that a problem names', async () => {
    const { body } = await ask<string>('console/api/runbook')
    expect(body).toMatch(/^# Runbook of Theatre\n/)
    for (const heading of runbookHeadings) {
      const section = await ask<string>(`console/api/runbook?heading=${encodeURIComponent(heading)}`)
      expect(section.body, heading).not.toBe('')
      expect(body).toContain(` ${heading}\n\n${section.body}`)
    }
    expect(await ask<Refused>('console/api/runbook?heading=None')).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', message: 'query: the runbook has no such heading' },
    })
  })
})

describe('a record', () => {
  it('that took effect', async () => {
    expect(await ask('console/api/events/0/0')).toMatchObject({
      status: 200,
      body: {
        ...{ partition: 0, offset: 0, key: String(running.seatId) },
        outcome: 'applied',
        why: 'It is version 1 of its stream.',
      },
    })
  })

  it('that did not, and why', async () => {
    const key = String(running.seatId)
    const removed = { ...envelope, subject: key, type: 'theatre.SeatRemoved.v1', data: { seatId: running.seatId } }
    const superseded = await append(key, { ...removed, id: 'a', streamversion: 2 })
    const unversioned = await append(key, { ...removed, id: 'b' })
    const skipped = await append(key, { no: 'event' })
    await eventually(async () => expect((await outcomeOf(unversioned)).outcome).not.toBe('waiting'))
    expect((await outcomeOf(skipped)).outcome).toBe('skipped')
    expect(await outcomeOf(superseded)).toMatchObject({
      outcome: 'superseded',
      why: 'When its turn came, version 2 was not the next one of its stream.',
    })
    expect((await outcomeOf(unversioned)).outcome).toBe('superseded')
  })

  it('that the read models have not come to', async () => {
    const value = {
      ...envelope,
      id: 'f',
      type: 'theatre.SeatRemoved.v1',
      subject: '1',
      streamversion: 2,
      data: { seatId: 1 },
    }
    const record = { offset: 0, key: Buffer.from('1'), value: Buffer.from(JSON.stringify(value)) }
    const log = {
      endOffsets: async () => [1],
      read: async () => ({ records: [record], next: 1 }),
      partitionFor: () => 0,
    }
    const tellBeside = (code: 'read_model_behind' | 'read_model_unavailable') => {
      const load = () => Promise.reject(new ServiceError(code, 'later'))
      const readModel: EventSources['readModel'] = { load, whenApplied: async () => 'late' }
      return tellEvent({ definition: theatre, log, readModel }, { partition: 0, offset: 0 })
    }
    expect((await tellBeside('read_model_behind')).outcome).toBe('waiting')
    await expect(tellBeside('read_model_unavailable')).rejects.toThrow('later')
  })

  it('that is not there', async () => {
    for (const place of ['0/1000', '7/0']) {
      expect(await ask<Refused>(`console/api/events/${place}`)).toMatchObject({
        status: 404,
        body: { code: 'no_such_record', message: `The log has no record at ${place}.` },
      })
    }
  })

  it('is shown whole, however large it may be', async () => {
    const padding = 'x'.repeat(16_000)
    const { body } = await ask<{ value: string }>(`console/api/events/${await append('x', { ...envelope, padding })}`)
    expect(body.value).toContain(padding)
  })

  it('never shows the hashes that only the topic has', async () => {
    const place = await append('x', { ...envelope, id: 'c', idempotencykey: 'secret', requestfingerprint: 'secret' })
    const { body } = await ask<{ value: string }>(`console/api/events/${place}`)
    expect(body.value).toContain('"id":"c"')
    expect(body.value).not.toContain('secret')
  })
})

describe('a stream', () => {
  it('is told event by event, beside the documents as of each', async () => {
    const { body } = await ask<{ versions: { version: number; documents: { collection: string; json: string }[] }[] }>(
      `console/api/streams/${running.seatId}`,
    )
    expect(body).toMatchObject({ isKnown: true, before: 0 })
    const shown = body.versions.map(({ version, documents }) => [
      version,
      ...documents.map(({ collection, json }) => [collection, JSON.parse(json).status]),
    ])
    expect(shown).toEqual([
      [1, ['seats', 'available']],
      [2, ['seats', 'pending'], ['bookings', 'placed']],
    ])
    const { body: seat } = await ask<object>(`v1/seats/${running.seatId}`)
    expect(JSON.parse(body.versions[1]?.documents[0]?.json ?? '')).toEqual(seat)
  })

  it('is told event by event too where several are one record, which is shown as it stands in the log', async () => {
    const [id, bookingId] = [70, 700]
    const by = { ...envelope, subject: String(id), time: '2026-11-28T12:00:00.000Z' }
    const seat = { id, name: 'one', rowId: 1, status: 'available' }
    const events = ['BookingPlaced', 'BookingCancelled'].map((type) => ({
      ...{ id: type, type: `theatre.${type}.v1`, data: { bookingId, seatId: id } },
    }))
    await append(String(id), { ...by, id: 'seat 70', type: 'theatre.SeatAdded.v1', streamversion: 1, data: seat })
    const several = { ...by, id: 'several', type: 'theatre.Several.v1', streamversion: 2, data: { events } }
    const place = await append(String(id), several)
    await eventually(async () => expect(await outcomeOf(place)).toMatchObject({ outcome: 'applied' }))
    const { body } = await ask<{ versions: { event: string; place: string; documents: { json: string }[] }[] }>(
      `console/api/streams/${id}`,
    )
    const told = body.versions.map(({ event, place, documents }) => [
      ...[JSON.parse(event).type, JSON.parse(event).streamindex, place],
      ...documents.map(({ json }) => JSON.parse(json).status),
    ])
    expect(told).toEqual([
      ['theatre.SeatAdded.v1', undefined, expect.any(String), 'available'],
      ['theatre.BookingPlaced.v1', 0, place, 'pending', 'placed'],
      ['theatre.BookingCancelled.v1', 1, place, 'available', 'cancelled'],
    ])
    expect(await outcomeOf(place)).toMatchObject({ value: JSON.stringify(several) })
  })

  it('that is none', async () => {
    expect((await ask('console/api/streams/999')).body).toEqual({ isKnown: false, versions: [], before: 0 })
  })

  it('is found by a document that it shows', async () => {
    const [booking] = (await ask<{ id: number }[]>('v1/bookings')).body
    const found = (path: string, id: unknown) =>
      ask<{ stream?: string; code?: string }>(`console/api/stream-of?path=${path}&id=${id}`)
    expect((await found('/v1/bookings', booking?.id)).body).toEqual({ stream: String(running.seatId) })
    expect((await found('/v1/bookings', 5)).body).toMatchObject({ code: 'booking_not_found' })
    expect((await found('/v1/none', 5)).body).toMatchObject({ code: 'invalid_request' })
  })
})

describe('what operators do', () => {
  it('rebuilds and verifies, watched, one at a time', async () => {
    const ended = () =>
      eventually(async () => {
        const { job } = (await ask<{ job: { result?: object } }>('console/api/status')).body
        expect(job.result).toBeDefined()
        return job
      })
    for (const [kind, outcome] of [
      ['rebuild', 'The new generation has taken over.'],
      ['verify', expect.stringMatching(/^\d+ compared, all as the log says\.$/)],
    ]) {
      const begun = await ask<object>(`console/api/jobs/${kind}`, { method: 'POST' })
      expect(begun).toMatchObject({ status: 202, body: { kind, actor: expect.stringMatching(/^key /) } })
      expect(await ended()).toMatchObject({ kind, result: { isGood: true, outcome } })
    }
    const [one, other] = await Promise.all(
      ['verify', 'verify'].map((kind) => ask<Refused>(`console/api/jobs/${kind}`, { method: 'POST' })),
    )
    expect([one?.status, other?.status].toSorted()).toEqual([202, 409])
    expect([one?.body.code, other?.body.code]).toContain('already_running')
    await ended()
    expect((await ask(`console/api/jobs/other`, { method: 'POST' })).status).toBe(400)
  })

  it('discards what is parked, with a reason that the audit has', async () => {
    const key = String(running.seatId)
    const wrong = { ...envelope, subject: key, type: 'theatre.BookingApproved.v1', data: { bookingId: 'one' } }
    const first = await append(key, { ...wrong, id: 'd', streamversion: 3 })
    const second = await append(key, { ...wrong, id: 'e', streamversion: 4 })
    const parked = () => ask<object>('console/api/parked')
    await eventually(async () =>
      expect((await parked()).body).toMatchObject({ streams: [{ stream: key, waiting: 1 }], more: 0 }),
    )
    expect(await outcomeOf(first)).toMatchObject({ outcome: 'parked', why: expect.stringContaining('data: ') })
    expect(await outcomeOf(second)).toMatchObject({
      outcome: 'parked',
      why: expect.stringContaining('an earlier event'),
    })
    const discard = (place: string, body: object = { reason: 'A typo.' }) =>
      ask<Refused>(`console/api/parked/${place}/discard`, { method: 'POST', body })
    expect((await discard(first, {})).body.message).toContain('reason')
    expect((await discard(first, { reason: '' })).status).toBe(400)
    expect((await discard(second)).body.message).toContain(`waits behind ${first}`)
    expect((await discard('0/0')).body).toMatchObject({ code: 'no_such_record' })
    expect(await discard(first)).toMatchObject({ status: 200, body: { isApplied: true } })
    expect(await outcomeOf(first)).toMatchObject({ outcome: 'discarded' })
    const audit = lines.map((line) => JSON.parse(line)).find((line) => line.audit === 'event discarded' && line.actor)
    expect(audit).toMatchObject({ event: first, stream: key, reason: 'A typo.', actor: expect.stringMatching(/^key /) })
  })
})
