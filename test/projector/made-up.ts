import type { CloudEvent } from '../../src/engine/log/record-codec.ts'
import type { Document, StreamDefinition } from '../../src/engine/projector/definition.ts'
import { homeIdOf } from '../../src/engine/read-models/stream-row.ts'
import { type AnyRecord, record } from './records.ts'

/** What can happen to the thing that a stream is about. `n` is the id of another document. */
export interface Happening {
  readonly op: 'change' | 'remove' | 'show again' | 'show other' | 'remove other' | 'fail'
  readonly stream: string
  readonly n: number
}

interface Thing extends Pick<Happening, 'stream'> {
  readonly changes: number
  readonly isRemoved: boolean
  readonly other: number
  readonly removesOther: boolean
}

const nothing: Thing = { stream: '', changes: 0, isRemoved: false, other: 0, removesOther: false }

/** A kind of stream that does what no pet does: its document can be removed. */
export const madeUp: StreamDefinition<Thing, Happening> = {
  decode({ type, subject = '', data }: CloudEvent) {
    if (type === 'made.Discarded') return { outcome: 'discard', offset: Number((data as { offset: number }).offset) }
    if (type !== 'made.Happening') return { outcome: 'ignored' }
    const { op, n } = data as Happening
    return { outcome: 'event', event: { op, n, stream: subject }, id: n }
  },
  streamVersion: ({ streamversion }) => (Number.isSafeInteger(streamversion) ? (streamversion as number) : undefined),
  initialState: nothing,
  evolve(thing, { event: { op, stream, n } }) {
    if (op === 'fail') throw new Error('it fails')
    const changed = { ...thing, stream, changes: thing.changes + 1 }
    if (op === 'remove') return { ...changed, isRemoved: true }
    if (op === 'show again') return { ...changed, isRemoved: false }
    return op === 'change' ? changed : { ...changed, other: n, removesOther: op === 'remove other' }
  },
  codec: {
    hidden: (thing) => JSON.stringify(thing),
    read: ({ hidden }) => JSON.parse(hidden) as Thing,
  },
  projections: [
    {
      name: 'things',
      version: 1,
      documents({ stream, changes, isRemoved, other, removesOther }): Document[] {
        const id = homeIdOf(stream)
        const indexes = [`parity:${changes % 2}`]
        const others = {
          ...{ collection: 'orders', id: other, indexes },
          json: removesOther ? null : `{"id":${other},"changes":${changes}}`,
        }
        const own = {
          collection: 'pets',
          id: id ?? 0,
          indexes,
          json: isRemoved ? null : `{"id":${id},"changes":${changes}}`,
        }
        return [...(id === undefined ? [] : [own]), ...(other === 0 ? [] : [others])] as Document[]
      },
    },
  ],
  home: 'pets',
}

export interface MadeUp extends Happening {
  readonly id: string
  readonly version: unknown
  readonly key?: string | undefined
}

export function happening({ stream, op, n, id, version, key }: MadeUp): AnyRecord {
  const envelope = { specversion: '1.0', id, type: 'made.Happening', source: '/made-up', subject: stream }
  const data = { streamversion: version, idempotencykey: key, data: { op, n } }
  return record(JSON.stringify({ ...envelope, ...data }), stream)
}

export function madeUpDiscard(stream: string, offset: number): AnyRecord {
  const envelope = { specversion: '1.0', id: `discard ${offset}`, type: 'made.Discarded', source: '/made-up' }
  return record(JSON.stringify({ ...envelope, subject: stream, data: { offset } }), stream)
}
