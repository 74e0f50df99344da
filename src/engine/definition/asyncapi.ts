import type { TSchema } from 'typebox'
import { referringTo, titledIn } from '../lib/values/named-schemas.ts'
import { shownEvent } from '../log/shown-event.ts'
import type { Definition } from './definition.ts'
import { eventExamples } from './event-examples.ts'
import { type EventSchema, namedEvents, shownSchemas, withoutRules } from './event-schemas.ts'
import { ruleForConsumers } from './rule-for-consumers.ts'
import { capitalised, listed, withArticle } from './words.ts'

const contentType = 'application/cloudevents+json'
const bindingVersion = '0.5.0'

interface Message extends EventSchema {
  /** What the document calls it. */
  readonly id: string
  readonly examples: ReturnType<typeof eventExamples>
}

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

/** The AsyncAPI document of the topics. `topic` is the journal, null where there is no Kafka. */
export function asyncApiDocument(definition: Definition, topic: string | null) {
  const { service, home, schemas } = definition
  const { collection } = service.stream
  const { published, journal } = messagesOf(definition)
  const all = [...new Map([...published, ...journal].map((each) => [each.id, each])).values()]
  const notShown = all.filter((each) => !published.includes(each))
  const named: Readonly<Record<string, TSchema>> = {
    ...namedEvents(published),
    ...titledIn(schemas.map(({ schema }) => schema.properties)),
    ...Object.fromEntries(notShown.map(({ name, schema }) => [name, schema])),
  }
  const withReferences = referringTo(named)
  const one = withArticle(home.noun)
  const changed = listed(
    Object.values(service.resources).map(({ noun }) => withArticle(noun)),
    'or',
  )

  function message({ type, name, examples }: Message) {
    return {
      name: type,
      title: type,
      contentType,
      headers: {
        type: 'object',
        required: ['content-type'],
        properties: { 'content-type': { type: 'string', const: contentType } },
      },
      payload: { $ref: `#/components/schemas/${name}` },
      bindings: {
        kafka: {
          key: {
            type: 'string',
            pattern: '^[1-9][0-9]*$',
            description: `The ${home.noun} id in decimal, equal to \`subject\``,
          },
          bindingVersion,
        },
      },
      examples,
    }
  }

  function channel(address: string | null, messages: readonly Message[], title: string, description: string) {
    return {
      address,
      title,
      description,
      messages: Object.fromEntries(messages.map(({ type, id }) => [type, { $ref: `#/components/messages/${id}` }])),
      bindings: {
        kafka: {
          topicConfiguration: { 'cleanup.policy': ['delete'], 'retention.ms': -1, 'retention.bytes': -1 },
          bindingVersion,
        },
      },
    }
  }

  function sent(of: 'published' | 'journal', title: string, description: string) {
    const $ref = `#/channels/${of}`
    const messages = { published, journal }[of].map(({ type }) => ({ $ref: `${$ref}/messages/${type}` }))
    return { action: 'send', channel: { $ref }, title, description, messages }
  }

  const order =
    `The record key is the ${home.noun} id in decimal. Kafka’s default partitioner (murmur2) chooses the partition by it, so ` +
    `all events of ${one} have one order.`
  return {
    asyncapi: '3.1.0',
    info: {
      title: `${service.title}: events`,
      version: '1.0.0',
      description:
        `Every change of ${changed} is an event. To follow them, read the channel \`published\`: it has what took effect. ` +
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
    channels: {
      published: channel(
        topic === null ? null : `${topic}.published`,
        published,
        `${capitalised(collection)}: what took effect`,
        `Each event of ${one} that took effect, once, in order, for the isolation level \`read_committed\`. Kept for ever unless the ` +
          `operator says otherwise. ${order} That order is (\`streamversion\`, \`streamindex\`; 0 where it is absent). To have ` +
          'each event count once whatever happens, remember the last such pair of each key, and leave out what is not above it. ' +
          'The address is null where the service runs without Kafka; an operator can switch the topic off.',
      ),
      journal: channel(
        topic,
        journal,
        `${capitalised(collection)}: the journal`,
        `What was appended for all ${collection}, kept for ever, with what came second or was sent twice. ${order} A producer on ` +
          'librdkafka needs partitioner=murmur2, since its own default is another one. ' +
          'The address is null where the service runs without Kafka. Whoever reads it follows this rule:\n\n' +
          ruleForConsumers(definition),
      ),
    },
    operations: {
      publishEvents: sent(
        'published',
        'Tell what took effect',
        `Whatever changes ${changed} is told here, once a GET can show it.`,
      ),
      appendEvents: sent(
        'journal',
        'Append what a command comes to',
        `Whatever shall change ${changed} is appended here, and counts by the rule of the channel.`,
      ),
    },
    components: {
      messages: Object.fromEntries(all.map((each) => [each.id, message(each)])),
      schemas: Object.fromEntries(
        Object.entries(named).map(([name, schema]) => [name, { ...withoutRules(withReferences(schema)), title: name }]),
      ),
    },
  }
}
