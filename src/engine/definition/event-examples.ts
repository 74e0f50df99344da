import type { NewRecord } from '../log/event-log.ts'
import type { Definition } from './definition.ts'
import type { EventContext } from './event-codec.ts'
import { typeOf } from './event-versions.ts'
import { severalName, writeSeveral } from './several.ts'

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
export function eventExamples({ kinds, service }: Pick<Definition, 'kinds' | 'service'>) {
  const all = kinds.flatMap((kind) =>
    kind.events.versions.flatMap(({ type, examples }) => examples.map((each) => ({ kind, type, ...each }))),
  )
  const contextOf = (stream: string, version: number) => ({
    ...{ stream, eventId: eventId(version), version, time: timeOf(version) },
  })
  const own = all.map(({ kind, type, name, summary, stream, version, json, isKeyed }) => {
    const context = { ...contextOf(kind.nameOf(stream), version), ...(isKeyed ? request : {}) }
    return example(name, summary, kind.events.encodeData(type, json, context))
  })
  const [{ events, nameOf }] = kinds
  const [first] = all
  const isNext = ({ kind, stream, version }: (typeof all)[number]) =>
    kind === first?.kind && stream === first.stream && version === first.version + 1
  const second = all.find(isNext) ?? first
  const both = writeSeveral(
    eventId(1),
    [first, second].flatMap((each) => each ?? []),
  )
  const stream = nameOf(first?.stream ?? 0)
  const several = events.encodeData(typeOf(service.name, severalName, 1), both, contextOf(stream, first?.version ?? 1))
  const discarded = events.encodeDiscard({ stream, offset: 1234 }, new Date(timeOf(5)))
  const summary = 'The parked event at offset 1234 of this partition has no effect'
  return [
    ...own,
    example('several', 'Two events of one command', several),
    example('eventDiscarded', summary, discarded, { id: eventId(5) }),
  ]
}
