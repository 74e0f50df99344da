import type { TSchema } from 'typebox'
import { referringTo, titledIn } from '../lib/values/named-schemas.ts'
import { shownEvent } from '../log/shown-event.ts'
import { documentChannels } from './asyncapi-documents.ts'
import { channelPart, messagePart, sendPart, type Texts } from './asyncapi-parts.ts'
import type { Definition } from './definition.ts'
import { eventExamples } from './event-examples.ts'
import {
  type EventSchema,
  namedEvents,
  shownSchemas,
  subjectPattern,
  subjectsOf,
  withoutRules,
} from './event-schemas.ts'
import type { Kind } from './kinds.ts'
import { ruleForConsumers } from './rule-for-consumers.ts'
import { capitalised, listed, withArticle } from './words.ts'

const contentType = 'application/cloudevents+json'
const keptForEver = { 'cleanup.policy': ['delete'], 'retention.ms': -1, 'retention.bytes': -1 }

/** Documents may have more members in a later release, as answers over HTTP. */
const isOpen = { additionalProperties: true }

interface Message extends EventSchema {
  /** What the document calls it. */
  readonly id: string
  readonly examples: ReturnType<typeof eventExamples>
}

type Channel = ReturnType<typeof channelPart>
type Channels = Readonly<Record<'published' | 'journal', Channel> & Record<string, Channel>>

/** What each topic has. Events without an attribute that consumers of the published topic do not get are the same in both. */
function messagesOf(definition: Definition): Readonly<Record<'published' | 'journal', readonly Message[]>> {
  const examples = eventExamples(definition)
  const examplesOf = (type: string) => examples.filter(({ payload }) => payload.type === type)
  const published = shownSchemas(definition.schemas).map((each) => ({
    ...each,
    id: each.type,
    examples: examplesOf(each.type).map(({ payload, ...rest }) => ({
      ...rest,
      payload: JSON.parse(shownEvent(JSON.stringify(payload))),
    })),
  }))
  const journal = definition.schemas.map((each): Message => {
    const { type, name, schema } = each
    const shown = published.find((other) => other.type === type)
    if (shown === undefined) return { ...each, id: type, examples: examplesOf(type) }
    if (JSON.stringify(shown.schema) === JSON.stringify(schema)) return shown
    return { type, schema, name: `Journal${name}`, id: `journal.${type}`, examples: examplesOf(type) }
  })
  return { published, journal }
}

/** Those that have the type: the engine's own may be in a stream of any. */
function kindsWith({ kinds }: Definition, type: string): Definition['kinds'] {
  const own = kinds.find(({ events }) => events.versions.some((version) => version.type === type))
  return own === undefined ? kinds : [own]
}

const keyOf = (kinds: readonly Kind[]) => ({
  pattern: subjectPattern(kinds),
  description: `${capitalised(subjectsOf(kinds))}, equal to \`subject\``,
})

/** The AsyncAPI document of the topics. `topic` is the journal, null where there is no Kafka. */
export function asyncApiDocument(definition: Definition, topic: string | null) {
  const { service, kinds, schemas } = definition
  const nouns = kinds.map(({ home }) => home.noun)
  const collections = listed(
    kinds.map(({ stream }) => stream.collection),
    'and',
  )
  const { published, journal } = messagesOf(definition)
  const all = [...new Map([...published, ...journal].map((each) => [each.id, each])).values()]
  const notShown = all.filter((each) => !published.includes(each))
  const documents = documentChannels(definition, topic)
  const shown = titledIn<TSchema>(definition.resources.map(({ schema }) => schema))
  const named: Readonly<Record<string, TSchema>> = {
    ...namedEvents(published),
    ...titledIn(schemas.map(({ schema }) => schema.properties)),
    ...shown,
    ...Object.fromEntries(notShown.map(({ name, schema }) => [name, schema])),
  }
  const withReferences = referringTo(named)
  const one = listed(nouns.map(withArticle), 'or')
  const changed = listed(
    Object.values(service.resources).map(({ noun }) => withArticle(noun)),
    'or',
  )

  const message = ({ type, name, examples }: Message) =>
    messagePart({
      name: type,
      contentType,
      headers: {},
      required: [],
      payload: { $ref: `#/components/schemas/${name}` },
      key: keyOf(kindsWith(definition, type)),
      examples,
    })

  function channel(address: string | null, of: readonly Message[], texts: Texts) {
    const messages = Object.fromEntries(of.map(({ type, id }) => [type, id]))
    return channelPart({ address, messages, topicConfiguration: keptForEver, ...texts })
  }

  function sent(of: 'published' | 'journal', texts: Texts) {
    const messages = { published, journal }[of].map(({ type }) => type)
    return sendPart(of, messages, texts)
  }

  const tables = listed(
    documents.map(({ name }) => `\`${name}\``),
    'or',
  )
  const order =
    `The record key is ${subjectsOf(kinds)}. Kafka’s default partitioner (murmur2) chooses the partition by it, so ` +
    `all events of ${one} have one order.`
  const channels: Channels = {
    published: channel(topic === null ? null : `${topic}.published`, published, {
      title: `${capitalised(collections)}: what took effect`,
      description:
        `Each event of ${one} that took effect, once, in order, for the isolation level \`read_committed\`. Kept for ever unless the ` +
        `operator says otherwise. ${order} That order is (\`streamversion\`, \`streamindex\`; 0 where it is absent). To have ` +
        'each event count once whatever happens, remember the last such pair of each key, and leave out what is not above it. ' +
        'The address is null where the service runs without Kafka; an operator can switch the topic off.',
    }),
    ...Object.fromEntries(documents.map(({ name, channel }) => [name, channel])),
    journal: channel(topic, journal, {
      title: `${capitalised(collections)}: the journal`,
      description:
        `What was appended for all ${collections}, kept for ever, with what came second or was sent twice. ${order} A producer on ` +
        'librdkafka needs partitioner=murmur2, since its own default is another one. ' +
        'The address is null where the service runs without Kafka. Whoever reads it follows this rule:\n\n' +
        ruleForConsumers(definition),
    }),
  }
  return {
    asyncapi: '3.1.0',
    info: {
      title: `${service.title}: events`,
      version: '1.0.0',
      description:
        `Every change of ${changed} is an event. To follow them, read the channel \`published\`: it has what took effect. ` +
        `To have what comes of them, load ${tables}: each is a table. ` +
        'The channel `journal` is where they come from, and its records have to be told apart by a rule.',
      license: { name: 'MIT' },
      contact: { name: service.title },
      tags: [{ name: 'events' }],
    },
    defaultContentType: contentType,
    servers: {
      kafka: {
        host: '{brokers}',
        protocol: 'kafka',
        description: 'The brokers of whoever runs the service, with TLS and a login where they ask for it',
        variables: { brokers: { default: 'localhost:9092', description: 'Host and port of one of them' } },
      },
    },
    channels,
    operations: {
      publishEvents: sent('published', {
        title: 'Tell what took effect',
        description: `Whatever changes ${changed} is told here, once a GET can show it.`,
      }),
      ...Object.fromEntries(documents.map(({ name, operation }) => [`publish.${name}`, operation])),
      appendEvents: sent('journal', {
        title: 'Append what a command comes to',
        description: `Whatever shall change ${changed} is appended here, and counts by the rule of the channel.`,
      }),
    },
    components: {
      messages: Object.fromEntries<ReturnType<typeof messagePart>>([
        ...published.map((each) => [each.id, message(each)] as const),
        ...documents.flatMap(({ messages }) => messages),
        ...notShown.map((each) => [each.id, message(each)] as const),
      ]),
      schemas: Object.fromEntries(
        Object.entries(named).map(([name, schema]) => [
          name,
          {
            ...withoutRules(withReferences(schema)),
            title: name,
            ...(name in shown && 'properties' in schema && isOpen),
          },
        ]),
      ),
    },
  }
}
