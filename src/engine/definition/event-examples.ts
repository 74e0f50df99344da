import type { ExamplePlace } from '../door/stream.ts'
import type { NewRecord } from '../log/event-log.ts'
import type { Definition } from './definition.ts'
import type { EventContext } from './event-codec.ts'
import { typeOf } from './event-versions.ts'
import type { Kind } from './kinds.ts'
import { idInSeveral, severalName, writeSeveral } from './several.ts'

/** The streams of a source are numbered: each event of it has an id of its own. */
const eventId = (version: number, stream = 0) =>
  `019e0000-0000-7000-8000-${String(100 + 1000 * stream + version).padStart(12, '0')}`
const timeOf = (version: number) => new Date(Date.UTC(2026, 10, 22, 12, version)).toISOString()

const request: Partial<EventContext> = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  idempotency: { key: 'fA9kMvEKy4cPhm28OpKWPk', fingerprint: 'QqOmAROuUhSt5iffvUIijM' },
}

/** A record as a consumer of the topic gets it. */
function example(name: string, summary: string, { value, headers }: NewRecord, more: object = {}) {
  return { name, summary, headers, payload: { ...JSON.parse(value), ...more } }
}

/** Examples of each version of each type. One of several events has a `streamindex`, as where it is told by itself. */
export function eventExamples({ kinds, service }: Pick<Definition, 'kinds' | 'service'>) {
  const all = kinds.flatMap((kind) =>
    kind.events.versions.flatMap(({ type, examples }) => examples.map((each) => ({ kind, type, ...each }))),
  )
  type Example = (typeof all)[number]
  const contextOf = ({ kind, stream, version }: Example) => {
    const streams = [...new Set(all.filter((each) => each.kind === kind).map((each) => each.stream))]
    const id = eventId(version, streams.indexOf(stream))
    return { stream: kind.nameOf(stream), eventId: id, version, time: timeOf(version) }
  }
  const own = all.map((each) => {
    const { kind, type, name, summary, json, isKeyed, index } = each
    const context = contextOf(each)
    const id = index === undefined ? context.eventId : idInSeveral(context.eventId, index)
    const written = kind.events.encodeData(type, json, { ...context, eventId: id, ...(isKeyed ? request : {}) })
    return example(name, summary, written, index === undefined ? {} : { streamindex: index })
  })
  const together = severalOf(all)
  const [{ events, nameOf }] = kinds
  const [first = undefined] = together
  const context = first && contextOf(first)
  const severalType = typeOf(service.name, severalName, 1)
  const both = context && writeSeveral(context.eventId, together)
  const several = both && first.kind.events.encodeData(severalType, both, context)
  const stream = nameOf(all[0]?.stream ?? 0)
  const discarded = events.encodeDiscard({ stream, offset: 1234 }, new Date(timeOf(5)))
  const summary = 'The parked event at offset 1234 of this partition has no effect'
  return [
    ...own,
    ...(several ? [example('several', 'Two events of one command', several)] : []),
    example('eventDiscarded', summary, discarded, { id: eventId(5) }),
  ]
}

/** Those of one record, if there are some; else two that follow one another. */
function severalOf<Example extends ExamplePlace & { readonly kind: Kind }>(
  all: readonly Example[],
): readonly Example[] {
  const first = all.find(({ index }) => index === 0) ?? all[0]
  if (first === undefined) return []
  const ofStream = all.filter(({ kind, stream }) => kind === first.kind && stream === first.stream)
  const isSecond = ({ version, index }: Example) =>
    first.index === undefined ? version === first.version + 1 : version === first.version && index === 1
  return [first, ofStream.find(isSecond) ?? first]
}
