import type { Definition } from '../definition/definition.ts'
import { kindOrFirst } from '../definition/kinds.ts'
import { documentsOf } from '../definition/shown-documents.ts'
import type { EventFeed } from '../feed/event-feed.ts'
import type { HistoryPlace } from '../feed/histories.ts'
import type { Reader } from '../feed/read-in-turn.ts'
import type { EventLog } from '../log/event-log.ts'
import type { ReadModel } from '../read-models/read-model.ts'
import type { StreamId } from '../read-models/stored-texts.ts'
import { readEvent } from '../rule/stream-event.ts'
import type { Story, ToldVersion } from './event-answers.ts'

/** How many events are read at a time. */
const pageSize = 100
/** How many are told: the last ones. */
const toldMax = 50

export interface StorySources {
  readonly definition: Definition
  readonly log: Pick<EventLog, 'partitionFor'>
  readonly events: Pick<EventFeed, 'history'>
  readonly readModel: Pick<ReadModel, 'load'>
}

type Folded = Omit<ToldVersion, 'place'>

/**
 * What each event of a stream did: its events that took effect, folded again by the `evolve` of the service, with the
 * documents as of each. Throws what `EventFeed.history` throws.
 */
export async function tellStory(sources: StorySources, stream: StreamId, reader: Reader): Promise<Story> {
  const fold = folding(sources, stream)
  const versions: Folded[] = []
  let before = 0
  let after: HistoryPlace | undefined
  let isKnown = false
  do {
    const page = await sources.events.history(stream, { after, limit: pageSize }, reader)
    versions.push(...page.events.map(fold))
    before += versions.splice(0, Math.max(0, versions.length - toldMax)).length
    isKnown = page.isKnown
    after = page.last
  } while (after !== undefined)
  const [first, last] = [versions[0]?.version ?? 1, versions.at(-1)?.version ?? 0]
  const { entries } = await sources.readModel.load({ stream, versions: { first, last } }, undefined, reader.owner)
  const partition = sources.log.partitionFor(stream)
  const placed = versions.map((each) => ({ ...each, place: `${partition}/${entries.get(each.version)?.offset}` }))
  return { isKnown: isKnown || versions.length > 0, versions: placed, before }
}

/** Takes one event after the other, as the projector reads them. */
function folding({ definition, log }: StorySources, stream: StreamId): (event: string) => Folded {
  const kind = kindOrFirst(definition, stream)
  const { initial, evolve } = kind.stream
  const partition = log.partitionFor(stream)
  const key = Buffer.from(stream)
  let state = initial
  return (json) => {
    const event = readEvent({ definition, log }, partition, { offset: 0, key, value: Buffer.from(json) })
    if (event === undefined || event.discards !== undefined || event.decoded.outcome !== 'events')
      throw new Error('an event that took effect cannot be read')
    const { decoded, version = 1, time } = event
    for (const each of decoded.events) state = evolve(state, { event: each, version, time })
    return { version, event: json, documents: documentsOf(kind, state) }
  }
}
