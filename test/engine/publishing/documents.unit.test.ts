import fc from 'fast-check'
import { expect, it } from 'vitest'
import { kindOrFirst } from '../../../src/engine/definition/kinds.ts'
import { documentsOf } from '../../../src/engine/definition/shown-documents.ts'
import { documentsTarget, type ToldRecord } from '../../../src/engine/log/published-log.ts'
import { documentTelling } from '../../../src/engine/publishing/documents.ts'
import type { DocumentId } from '../../../src/engine/read-models/document.ts'
import type { StreamNames } from '../../../src/engine/read-models/stream-names.ts'
import { readEvent } from '../../../src/engine/rule/stream-event.ts'
import { bookingEvent, seatAdded, several } from '../projector/records.ts'
import { hallEvent } from '../two-kinds.ts'
import { anyStep, drawOf, journalOf } from './any-journal.ts'
import { openPublishedWorld, type PublishedWorld } from './published-world.ts'

type Values = Readonly<Record<string, string | null>>
type Release = PublishedWorld['releases']['newest']

const keyOf = ({ target, key }: Pick<ToldRecord, 'target' | 'key'>) => `${target}/${key}`
const placeOf = (names: StreamNames, document: DocumentId) =>
  `${documentsTarget(document.collection)}/${names.keyOf(document)}`
const versionOf = ({ headers: { streamversion } }: ToldRecord) => Number(streamversion)
const streamOf = ({ headers: { stream } }: ToldRecord) => String(stream)

/** What a release shows, and null for each seat or hall that is removed. */
async function shownBy({ projection, definition: { names } }: Release): Promise<Values> {
  const { documents, rows } = await projection.read()
  const shown: Record<string, string | null> = {}
  for (const collection of ['seats', 'bookings', 'halls']) {
    for (const [id, text] of documents[collection] ?? [])
      shown[placeOf(names, { collection, id: Number(id) })] = text.split('\0')[0] ?? ''
  }
  for (const [stream, text] of rows) {
    const document = names.documentOf(stream)
    if (/^\d+x/.test(text) && document !== undefined) shown[placeOf(names, document)] = null
  }
  return shown
}

/** The documents of a stream as of each of its versions, those that the state shows no more included. */
async function versionsOf({ journal, log, releases: { newest } }: PublishedWorld, stream: string): Promise<Values[]> {
  const { definition, projection } = newest
  const { row } = await projection.readModel.load({ stream })
  const { entries } = await projection.readModel.load({ stream, versions: { first: 1, last: row?.version ?? 0 } })
  const kind = kindOrFirst(definition, stream)
  let state: unknown = kind.stream.initial
  const found: Values[] = [{}]
  for (const [version, { offset, isDiscarded }] of [...entries].sort(([one], [other]) => one - other)) {
    const { key = null, value = null } = journal[offset] ?? {}
    const event = readEvent({ log, definition }, 0, { offset, key, value })
    const counted = isDiscarded || event === undefined || event.discards !== undefined ? undefined : event
    const documents: Record<string, string | null> = { ...found.at(-1) }
    for (const each of counted?.decoded.outcome === 'events' ? counted.decoded.events : []) {
      state = kind.stream.evolve(state, { event: each, version, time: counted?.time ?? '' })
      for (const { collection, id, json } of documentsOf(kind, state))
        documents[placeOf(definition.names, { collection, id })] = json
    }
    found.push(documents)
  }
  return found
}

/** Those whose text is not what their stream shows at the version that they name. */
async function contradictingIn(world: PublishedWorld): Promise<readonly ToldRecord[]> {
  const streams = new Set(world.told.map(streamOf))
  const versions = new Map<string, Values[]>()
  for (const stream of streams) versions.set(stream, await versionsOf(world, stream))
  return world.told.filter((record) => {
    const shown = versions.get(streamOf(record))?.[versionOf(record)]
    return shown?.[keyOf(record)] !== record.value
  })
}

/** What a consumer holds who takes each value, or those alone whose version is not below that of the one it has. */
function tablesOf(told: readonly ToldRecord[]): readonly Values[] {
  return [told, told.toSorted((one, other) => versionOf(one) - versionOf(other))].map((records) =>
    Object.fromEntries(records.map((record) => [keyOf(record), record.value])),
  )
}

it('tells in the end what the read models show, and each value with its version, whatever happens meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(drawOf('1', '1', '1', '2', '2', '3', '4', '5', 'halls/1', 'halls/1', 'halls/3'), {
        maxLength: 50,
        size: 'max',
      }),
      fc.array(anyStep, { minLength: 5, maxLength: 60, size: 'max' }),
      fc.array(fc.constantFrom(0, 0, 0, 1, 2, 5), { minLength: 1, maxLength: 30 }),
      async (draws, steps, progress) => {
        let reads = 0
        const all = await journalOf(draws)
        const world = await openPublishedWorld(() => progress[reads++ % progress.length] ?? 0, documentTelling)
        await world.live(all, steps)
        const shown = await shownBy(world.releases.newest)
        expect(tablesOf(world.told)).toEqual([shown, shown])
        expect(await contradictingIn(world)).toEqual([])
      },
    ),
    { numRuns: 1000 },
  )
})

it('tells a hall under its record key, in the topic of halls, beside a seat with its id', async () => {
  const world = await openPublishedWorld(undefined, documentTelling)
  const { journal, releases } = world
  journal.push(seatAdded({ id: 7 }), hallEvent('HallBuilt', 7))
  await world.finish(releases.newest, 9)
  journal.push(hallEvent('HallClosed', 7, { version: 2 }))
  await world.finish(releases.newest, 9)
  expect(world.told.map((record) => [keyOf(record), record.value === null, record.headers.streamversion])).toEqual([
    [`${documentsTarget('seats')}/7`, false, '1'],
    [`${documentsTarget('halls')}/halls/7`, false, '1'],
    [`${documentsTarget('halls')}/halls/7`, true, '2'],
  ])
  expect(world.told[1]?.headers.stream).toBe('halls/7')
})

it('tells once what several events of a record show, as the last of them shows it', async () => {
  const world = await openPublishedWorld(() => 5, documentTelling)
  const about = (version: number, eventId: string) => ({ version, eventId })
  const changed = [
    bookingEvent('BookingCancelled', 1, 8, 3, about(3, 'third')),
    bookingEvent('BookingPlaced', 1, 12, 3),
    bookingEvent('BookingApproved', 1, 12, 3),
  ]
  const log = [seatAdded({ id: 1 }), bookingEvent('BookingPlaced', 1, 8, 2, about(2, 'second')), several(changed)]
  await world.live(log, [
    { does: 'append', count: 3 },
    { does: 'turn', steps: 9, isCommitted: true },
  ])
  const third = world.told.filter((record) => versionOf(record) === 3)
  expect(third.map((record) => [keyOf(record), JSON.parse(record.value ?? '').status])).toEqual([
    [`${documentsTarget('seats')}/1`, 'pending'],
    [`${documentsTarget('bookings')}/8`, 'cancelled'],
    [`${documentsTarget('bookings')}/12`, 'approved'],
  ])
  expect(third.map(({ headers }) => headers)).toEqual(
    Array(3).fill({ 'content-type': 'application/json', stream: '1', streamversion: '3' }),
  )
})
