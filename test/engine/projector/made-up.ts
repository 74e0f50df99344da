import { Type } from 'typebox'
import { defineStream, type StreamDefinition, streamKinds } from '../../../src/engine/definition/kinds.ts'
import type { Document } from '../../../src/engine/door/stream.ts'
import { type AnyRecord, foreignRecord, record, several } from './records.ts'

/** What can happen to the thing that a stream is about. `n` is the id of another document, or how much is to be hidden. */
export interface Happening {
  readonly type: 'Happening'
  readonly op: 'change' | 'hide' | 'remove' | 'show again' | 'show other' | 'remove other' | 'fail'
  readonly stream: string
  readonly n: number
}

interface Thing extends Pick<Happening, 'stream'> {
  readonly changes: number
  readonly isRemoved: boolean
  readonly other: number
  readonly removesOther: boolean
  /** Which no document shows. */
  readonly hidden: string
}

const nothing: Thing = { stream: '', changes: 0, isRemoved: false, other: 0, removesOther: false, hidden: '' }

/** A kind of stream that does what no seat does: its document can be removed, and any amount of its state be hidden. */
const kind: StreamDefinition<Thing, unknown, Happening> = defineStream<Thing, unknown, Happening>('made', {
  collection: 'seats',
  source: '/made-up',
  initial: nothing,
  commands: [],
  decide: () => 'unchanged',
  evolve(thing, { event: { op, stream, n } }) {
    if (op === 'fail') throw new Error('it fails')
    const changed = { ...thing, stream, changes: thing.changes + 1 }
    if (op === 'hide') return { ...changed, hidden: 'x'.repeat(n) }
    if (op === 'remove') return { ...changed, isRemoved: true }
    if (op === 'show again') return { ...changed, isRemoved: false }
    return op === 'change' ? changed : { ...changed, other: n, removesOther: op === 'remove other' }
  },
  events: {
    Happening: {
      version: 1,
      description: 'Something happened',
      data: Type.Object({ op: Type.String(), stream: Type.String(), n: Type.Integer() }),
      examples: [],
    },
  },
  projections: [
    {
      name: 'things',
      version: 1,
      documents({ stream, changes, isRemoved, other, removesOther }): Document[] {
        const id = madeUp.names.documentOf(stream)?.id
        const filters = { parity: String(changes % 2) }
        const json = (of: number) => `{"id":${of},"changes":${changes}}`
        const own = { collection: 'seats', id: id ?? 0, filters, json: isRemoved ? null : json(id ?? 0) }
        const others = { collection: 'bookings', id: other, filters, json: removesOther ? null : json(other) }
        return [...(id === undefined ? [] : [own]), ...(other === 0 ? [] : [others])]
      },
    },
  ],
})

export const madeUp = streamKinds([kind])

/** `more`: what else happens at once, in one record. */
export interface MadeUp extends Omit<Happening, 'type'> {
  readonly more?: readonly Pick<Happening, 'op' | 'n'>[]
  readonly id: string
  readonly version: unknown
  readonly key?: string | undefined
}

export function happening({ stream, op, n, id, version, key, more = [] }: MadeUp): AnyRecord {
  const type = 'made.Happening.v1'
  const about = { source: '/made-up', id, subject: stream, streamversion: version, idempotencykey: key }
  const [first, ...others] = [{ op, n }, ...more].map((each) =>
    foreignRecord({ ...about, type, data: { ...each, stream } }),
  )
  return first === undefined || others.length === 0 ? (first ?? record(null)) : several([first, ...others])
}

export function madeUpDiscard(stream: string, offset: number): AnyRecord {
  const type = 'made.EventDiscarded.v1'
  return foreignRecord({ source: '/made-up', id: `discard ${offset}`, type, subject: stream, data: { offset } })
}
