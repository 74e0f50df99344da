import { titleOf } from '../lib/values/named-schemas.ts'
import { documentsTarget, documentTopics } from '../log/published-log.ts'
import { channelPart, messagePart, sendPart } from './asyncapi-parts.ts'
import type { Definition } from './definition.ts'
import { subjectPattern, subjectsOf } from './event-schemas.ts'
import type { Kind, NamedResource } from './kinds.ts'
import { capitalised, listed, withArticle } from './words.ts'

const contentType = 'application/json'

const topicConfiguration = {
  'cleanup.policy': ['compact'],
  'delete.retention.ms': documentTopics.tombstonesKeptMs,
  'max.message.bytes': documentTopics.messageBytesMax,
}

/** The channel of each collection, with its messages and its operation. `topic` is the journal, null where there is no Kafka. */
export function documentChannels({ resources, kinds }: Definition, topic: string | null) {
  return resources.map((resource) => {
    const { collection, noun } = resource
    const own = kinds.find(({ home }) => home === resource)
    const shown: Shown = { resource, own, kinds: own === undefined ? kinds : [own] }
    const name = documentsTarget(collection)
    const messages = { document: `${name}.document`, tombstone: `${name}.tombstone` }
    return {
      name,
      channel: channelPart({
        address: topic === null ? null : `${topic}.${name}`,
        title: `${capitalised(collection)}: the documents`,
        description: descriptionOf(shown),
        messages,
        topicConfiguration,
      }),
      messages: [
        [messages.document, documentMessage(shown)],
        [messages.tombstone, tombstoneMessage(shown)],
      ] as const,
      operation: sendPart(name, Object.keys(messages), {
        title: `Tell ${collection} as they are`,
        description: `After each event that took effect, every ${noun} that its stream shows is told here, once a GET can show it.`,
      }),
    }
  })
}

interface Shown {
  readonly resource: NamedResource
  /** The kind of stream that each of them shows, if one does. */
  readonly own: Kind | undefined
  /** Those whose streams may show one. */
  readonly kinds: Definition['kinds']
}

const keyOf = ({ resource: { noun }, own }: Shown) =>
  own === undefined ? `the ${noun} id in decimal` : subjectsOf([own])

const descriptionOf = (shown: Shown) => {
  const {
    resource: { collection, noun },
    own,
    kinds,
  } = shown
  const streams = listed(
    kinds.map(({ home }) => home.noun),
    'or',
  )
  return (
    `All ${collection} as GET shows them: a table, for the isolation level \`read_committed\`. The record key is ${keyOf(shown)}. ` +
    `The last value of a key is the ${noun}; null, a tombstone, says that it is removed. After each event that took effect, ` +
    `every ${noun} that its stream shows is told again, also where it is as before: once for several events of one version. ` +
    'The topic is compacted, and keeps the last record of each key; a tombstone it keeps for seven days. Whoever was away for longer loads all of it into an empty table. ' +
    `A record lies in the partition of its stream, which Kafka’s default partitioner (murmur2) chooses for the key of the events ` +
    `of the ${streams}${own === undefined ? `, and for the ${noun} id too` : ''}. The last value of each key is right in the end. ` +
    'It may go back for a moment while a service fills the topic: at first, or since it shows documents in another way. To never go ' +
    'back, remember the last `streamversion` of each key, and leave out what is below it. ' +
    'The address is null where the service runs without Kafka; an operator can switch the topic off.'
  )
}

function documentMessage(shown: Shown) {
  const { noun, schema, example } = shown.resource
  const headers = { 'content-type': contentType, stream: streamOf(shown), streamversion: '1' }
  return messagePart({
    ...common(shown),
    name: `${noun}.document`,
    payload: { $ref: `#/components/schemas/${titleOf(schema)}` },
    examples: [{ name: noun, summary: `${capitalised(withArticle(noun))} as GET shows it`, headers, payload: example }],
  })
}

function tombstoneMessage(shown: Shown) {
  const { noun } = shown.resource
  const headers = { 'content-type': contentType, stream: streamOf(shown), streamversion: '2' }
  const summary = `GET of this ${noun} is 404`
  return messagePart({
    ...common(shown),
    name: `${noun}.tombstone`,
    payload: { type: 'null', description: `The ${noun} is removed` },
    examples: [{ name: `${noun}Tombstone`, summary, headers, payload: null }],
  })
}

const common = (shown: Shown) => ({
  contentType,
  headers: {
    stream: {
      type: 'string',
      pattern: subjectPattern(shown.kinds),
      description: `The record key of the events that it comes of: ${subjectsOf(shown.kinds)}`,
    },
    streamversion: decimal('The version of the stream that it shows, with all of its events where it has several'),
  },
  required: ['stream', 'streamversion'],
  key: { pattern: subjectPattern(shown.own === undefined ? [] : [shown.own]), description: capitalised(keyOf(shown)) },
})

const decimal = (description: string) => ({ type: 'string', pattern: '^[1-9][0-9]*$', description })

/** That of the example of its kind. */
function streamOf({ kinds: [kind] }: Shown): string {
  const { id } = kind.home.example as { readonly id: number }
  return kind.nameOf(id)
}
