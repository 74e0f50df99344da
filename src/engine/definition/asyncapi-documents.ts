import { titleOf } from '../lib/values/named-schemas.ts'
import { documentsTarget, documentTopics } from '../log/published-log.ts'
import { channelPart, messagePart, sendPart } from './asyncapi-parts.ts'
import type { Definition, NamedResource } from './definition.ts'
import { capitalised, withArticle } from './words.ts'

const contentType = 'application/json'

const topicConfiguration = {
  'cleanup.policy': ['compact'],
  'delete.retention.ms': documentTopics.tombstonesKeptMs,
  'max.message.bytes': documentTopics.messageBytesMax,
}

/** The channel of each collection, with its messages and its operation. `topic` is the journal, null where there is no Kafka. */
export function documentChannels({ resources, home }: Definition, topic: string | null) {
  return resources.map((resource) => {
    const { collection, noun } = resource
    const name = documentsTarget(collection)
    const messages = { document: `${name}.document`, tombstone: `${name}.tombstone` }
    return {
      name,
      channel: channelPart({
        address: topic === null ? null : `${topic}.${name}`,
        title: `${capitalised(collection)}: the documents`,
        description: descriptionOf(resource, home),
        messages,
        topicConfiguration,
      }),
      messages: [
        [messages.document, documentMessage(resource, home)],
        [messages.tombstone, tombstoneMessage(resource, home)],
      ] as const,
      operation: sendPart(name, Object.keys(messages), {
        title: `Tell ${collection} as they are`,
        description: `After each event that took effect, every ${noun} that its stream shows is told here, once a GET can show it.`,
      }),
    }
  })
}

const descriptionOf = ({ collection, noun }: NamedResource, home: NamedResource) =>
  `All ${collection} as GET shows them: a table, for the isolation level \`read_committed\`. The record key is the ${noun} id in ` +
  `decimal. The last value of a key is the ${noun}; null, a tombstone, says that it is removed. After each event that took effect, ` +
  `every ${noun} that its stream shows is told again, also where it is as before: once for several events of one version. The topic is compacted, and keeps the last ` +
  'record of each key; a tombstone it keeps for seven days. Whoever was away for longer loads all of it into an empty table. ' +
  `A record lies in the partition of its stream, which Kafka’s default partitioner (murmur2) chooses for the ${home.noun} id` +
  `${noun === home.noun ? '' : `, and for the ${noun} id too`}. The last value of each key is right in the end. ` +
  'It may go back for a moment while a service fills the topic: at first, or since it shows documents in another way. To never go ' +
  'back, remember the last `streamversion` of each key, and leave out what is below it. ' +
  'The address is null where the service runs without Kafka; an operator can switch the topic off.'

function documentMessage(resource: NamedResource, home: NamedResource) {
  const { noun, schema, example } = resource
  const headers = { 'content-type': contentType, stream: idOf(home.example), streamversion: '1' }
  return messagePart({
    ...common(resource, home),
    name: `${noun}.document`,
    payload: { $ref: `#/components/schemas/${titleOf(schema)}` },
    examples: [{ name: noun, summary: `${capitalised(withArticle(noun))} as GET shows it`, headers, payload: example }],
  })
}

function tombstoneMessage(resource: NamedResource, home: NamedResource) {
  const { noun } = resource
  const headers = { 'content-type': contentType, stream: idOf(home.example), streamversion: '2' }
  const summary = `GET of this ${noun} is 404`
  return messagePart({
    ...common(resource, home),
    name: `${noun}.tombstone`,
    payload: { type: 'null', description: `The ${noun} is removed` },
    examples: [{ name: `${noun}Tombstone`, summary, headers, payload: null }],
  })
}

const common = ({ noun }: NamedResource, home: NamedResource) => ({
  contentType,
  headers: {
    stream: decimal(`The ${home.noun} id, which is the record key of the events that it comes of`),
    streamversion: decimal('The version of the stream that it shows, with all of its events where it has several'),
  },
  required: ['stream', 'streamversion'],
  key: `The ${noun} id in decimal`,
})

const decimal = (description: string) => ({ type: 'string', pattern: '^[1-9][0-9]*$', description })

const idOf = (example: object) => ('id' in example ? String(example.id) : '')
