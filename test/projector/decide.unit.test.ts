import { describe, expect, it } from 'vitest'
import { pets } from '../../projections/pets.ts'
import type { LogRecord } from '../../src/event-log/event-log.ts'
import { counterPrefixes } from '../../src/projector/counting.ts'
import { decide, type Known } from '../../src/projector/decide.ts'
import { readRecord } from '../../src/projector/read-record.ts'
import { startOfPartition } from '../../src/read-models/checkpoint.ts'
import { eventTag } from '../../src/read-models/event-tag.ts'
import type { PartitionState } from '../../src/read-models/read-models.ts'
import { foreignRecord, petCreated, record } from './records.ts'

const start: PartitionState = { checkpoint: startOfPartition, parkedSubjects: new Set() }
const nothing: Known = { tags: new Map(), decidedKeys: new Set(), parked: new Map() }

function decideOn(records: readonly LogRecord[], state = start, known: Partial<Known> = {}) {
  const contents = records.map((each) => readRecord(pets, each))
  const next = (records.at(-1)?.offset ?? state.checkpoint.next - 1) + 1
  return decide(
    { partition: 0, contents, lastRecord: records.at(-1), next },
    state,
    { ...nothing, ...known },
    counterPrefixes(pets.countings),
  )
}

function outcomes(records: readonly LogRecord[], state?: PartitionState, known?: Partial<Known>) {
  const { batch } = decideOn(records, state, known)
  const { applied, dropped, parked, skipped } = batch.checkpoint
  return { applied, dropped, parked, skipped }
}

describe('what becomes of a record', () => {
  it('a PetCreated is applied: by id and in the index of its status', () => {
    const { batch } = decideOn([petCreated(0, { id: 7, name: 'Rex', categoryId: 2n, status: 'sold' }, 'event-1')])
    expect(batch.inserts).toEqual([
      {
        id: 7,
        document: '{"id":7,"name":"Rex","categoryId":2,"status":"sold"}',
        indexes: ['status:sold'],
        tag: eventTag('event-1'),
      },
    ])
    const counters = ['pet-counts:status:sold', 'pet-counts:category:2']
    expect(batch.counters).toEqual(new Map(counters.map((name) => [name, 1])))
    expect(batch.checkpoint).toMatchObject({ next: 1, applied: 1, dropped: 0, parked: 0, skipped: 0 })
  })

  it.each([
    ['null value', record(0, null)],
    ['empty value', record(0, '')],
    ['invalid UTF-8', record(0, Buffer.from([0xff, 0xfe]))],
    ['invalid JSON', record(0, '{"id":')],
    ['JSON that is no object', record(0, '[1]')],
    ['no id', foreignRecord(0, { id: undefined })],
    ['no type', foreignRecord(0, { type: undefined })],
    ['no source', foreignRecord(0, { source: '' })],
    ['another CloudEvents version', foreignRecord(0, { specversion: '0.3' })],
    ['an unknown type', foreignRecord(0, { type: 'petstore.PetFed.v1' })],
    ['a type of somebody else', foreignRecord(0, { type: 'petstore.PetCreated' })],
  ])('%s is skipped', (_, foreign) => {
    expect(outcomes([foreign, petCreated(1, { id: 1 })])).toEqual({ applied: 1, dropped: 0, parked: 0, skipped: 1 })
  })

  it.each([
    ['an unknown version', { type: 'petstore.PetCreated.v2' }, 'version 2'],
    ['no data', { data: undefined }, 'data'],
    ['a pet without a name', { data: { id: 1, categoryId: 1, status: 'sold' } }, 'name is required'],
    ['an id of 0', { data: { id: 0, name: 'x', categoryId: 1, status: 'sold' } }, 'id'],
    ['an id beyond 2^53', { data: { id: 2 ** 53, name: 'x', categoryId: 1, status: 'sold' } }, 'id'],
    ['an unknown status', { data: { id: 1, name: 'x', categoryId: 1, status: 'eaten' } }, 'status'],
  ])('a PetCreated with %s is parked under its subject, with reason and value', (_, change, reason) => {
    const unreadable = foreignRecord(3, { subject: '1', ...change })
    const { batch, state } = decideOn([unreadable])
    expect(batch.parked).toMatchObject([{ offset: 3, subject: '1', value: unreadable.value?.toString() }])
    expect(batch.parked[0]?.reason).toContain(reason)
    expect(state.parkedSubjects).toEqual(new Set(['1']))
    expect(batch.checkpoint).toMatchObject({ next: 4, parked: 1 })
  })

  it('parks under the record key when there is no subject, else under the offset', () => {
    const type = 'petstore.PetCreated.v9'
    const { batch } = decideOn([foreignRecord(0, { type }, 'the key'), foreignRecord(1, { type }, null)])
    expect(batch.parked.map(({ subject }) => subject)).toEqual(['the key', 'offset 1'])
  })

  it('later events of a parked subject park behind it, in this batch and in those after', () => {
    const { batch, state } = decideOn([
      foreignRecord(0, { type: 'petstore.PetCreated.v9', subject: '5' }),
      petCreated(1, { id: 5 }),
      petCreated(2, { id: 6 }),
    ])
    expect(batch.parked.map(({ offset }) => offset)).toEqual([0, 1])
    expect(batch.inserts.map(({ id }) => id)).toEqual([6])
    expect(outcomes([petCreated(3, { id: 5 }, 'another')], state)).toMatchObject({ applied: 1, parked: 3 })
  })

  it('the same event again is dropped, within a batch and after it, but parks behind a parked event', () => {
    const event = petCreated(0, { id: 5 }, 'event-5')
    const again = { ...event, offset: 1 }
    const known = { tags: new Map([[5, eventTag('event-5')]]) }
    expect(outcomes([event, again])).toEqual({ applied: 1, dropped: 1, parked: 0, skipped: 0 })
    expect(outcomes([again], start, known)).toEqual({ applied: 0, dropped: 1, parked: 0, skipped: 0 })
    const behind = { ...start, parkedSubjects: new Set(['5']) }
    // Known or not: tags are known by chance, when something else in the batch met them.
    for (const met of [known, {}]) expect(outcomes([again], behind, met)).toMatchObject({ dropped: 0, parked: 1 })
  })

  it('a second pet under an id that exists is parked: within a batch and after it', () => {
    const first = petCreated(0, { id: 5, name: 'first' }, 'event-a')
    const second = petCreated(1, { id: 5, name: 'second' }, 'event-b')
    const { batch } = decideOn([first, second])
    expect(batch.inserts.map(({ document }) => document)).toEqual([expect.stringContaining('first')])
    expect(batch.parked).toMatchObject([{ offset: 1, subject: '5', reason: 'id 5 exists under another event id' }])
    expect(outcomes([second], start, { tags: new Map([[5, eventTag('event-a')]]) })).toMatchObject({
      applied: 0,
      parked: 1,
    })
  })

  it('a stretch without records moves the position only', () => {
    const before = decideOn([petCreated(0, { id: 1 })]).state
    const { batch } = decide({ partition: 0, contents: [], lastRecord: undefined, next: 3 }, before, nothing, [])
    expect(batch).toEqual({
      partition: 0,
      expected: before.checkpoint,
      checkpoint: { ...before.checkpoint, next: 3 },
      inserts: [],
      counters: new Map(),
      parked: [],
      unparked: [],
      freed: [],
      decisions: [],
    })
  })

  it('the first event under an idempotency key decides it, whatever the others would have made', () => {
    const first = petCreated(3, { id: 5, name: 'first' }, 'event', { key: 'k', fingerprint: 'f' })
    const second = petCreated(4, { id: 6, name: 'second' }, 'event', { key: 'k', fingerprint: 'g' })
    const other = petCreated(5, { id: 7 }, 'other', { key: 'l', fingerprint: 'f' })
    const { batch } = decideOn([first, second, other])
    expect(batch.inserts.map(({ id }) => id)).toEqual([5, 7])
    expect(batch.decisions).toEqual([
      { key: 'k', offset: 3, fingerprint: 'f', subject: '5' },
      { key: 'l', offset: 5, fingerprint: 'f', subject: '7' },
    ])
    expect(batch.checkpoint).toMatchObject({ applied: 2, dropped: 1, parked: 0 })
  })

  it('an event under a key that was decided before is dropped, and decides nothing', () => {
    const again = petCreated(9, { id: 6 }, 'event', { key: 'k', fingerprint: 'f' })
    const { batch } = decideOn([again], start, { decidedKeys: new Set(['k']) })
    expect(batch).toMatchObject({ inserts: [], parked: [], decisions: [], checkpoint: { dropped: 1 } })
  })

  it('an event that is then parked decides its key all the same', () => {
    const attributes = { type: 'petstore.PetCreated.v9', subject: '5', idempotencykey: 'k', requestfingerprint: 'f' }
    const behind = petCreated(1, { id: 6 }, 'event', { key: 'k', fingerprint: 'f' })
    const { batch } = decideOn([foreignRecord(0, attributes), behind])
    expect(batch.decisions).toEqual([{ key: 'k', offset: 0, fingerprint: 'f', subject: '5' }])
    expect(batch.checkpoint).toMatchObject({ parked: 1, dropped: 1, applied: 0 })
  })

  it('an idempotency key that is no text counts as none', () => {
    const numbered = foreignRecord(0, { type: 'petstore.PetCreated.v9', subject: '5', idempotencykey: 7 })
    expect(decideOn([numbered]).batch.decisions).toEqual([])
  })

  it('a projection that throws parks the event with its message', () => {
    const failing = {
      ...pets,
      projection: {
        ...pets.projection,
        change: () => {
          throw new Error('a bug')
        },
      },
    }
    expect(readRecord(failing, petCreated(0, { id: 1 }))).toMatchObject({
      kind: 'unreadable',
      reason: expect.stringContaining('a bug'),
    })
  })
})
