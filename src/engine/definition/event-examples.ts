import type { NewRecord } from '../log/event-log.ts'
import type { Definition } from './definition.ts'
import type { EventContext } from './event-codec.ts'

const eventId = (version: number) => `019e0000-0000-7000-8000-00000000010${version}`
const timeOf = (version: number) => `2026-11-22T12:0${version}:00.000Z`

const request: Partial<EventContext> = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  idempotency: { key: 'fA9kMvEKy4cPhm28OpKWPk', fingerprint: 'QqOmAROuUhSt5iffvUIijM' },
}

/** A record as a consumer of the topic gets it. */
function example(name: string, summary: string, { value, headers }: NewRecord, more: object = {}) {
  return { name, summary, headers, payload: { ...JSON.parse(value), ...more } }
}

/** Examples of each version of each type. */
export function eventExamples({ kinds }: Pick<Definition, 'kinds'>) {
  const own = kinds.flatMap(({ events, nameOf }) =>
    events.versions.flatMap(({ type, examples }) =>
      examples.map(({ name, summary, stream, version, json, isKeyed }) => {
        const context = { stream: nameOf(stream), eventId: eventId(version), version, time: timeOf(version) }
        return example(name, summary, events.encodeData(type, json, { ...context, ...(isKeyed ? request : {}) }))
      }),
    ),
  )
  const [kind] = kinds
  const [first] = kind.events.versions.flatMap(({ examples }) => examples)
  const parked = { stream: kind.nameOf(first?.stream ?? 0), offset: 1234 }
  const discarded = kind.events.encodeDiscard(parked, new Date(timeOf(5)))
  const summary = 'The parked event at offset 1234 of this partition has no effect'
  return [...own, example('eventDiscarded', summary, discarded, { id: eventId(5) })]
}
