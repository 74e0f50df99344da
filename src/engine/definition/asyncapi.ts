import type { TSchema } from 'typebox'
import type { AnyEvent, EventType } from '../door/stream.ts'
import { referringTo, titledIn } from '../lib/values/named-schemas.ts'
import type { Definition } from './definition.ts'
import { eventExamples } from './event-examples.ts'
import { discardedName, type EventSchema, namedEvents, withoutRules } from './event-schemas.ts'
import { capitalised, listed, withArticle } from './words.ts'

/** Word for word as in docs/events.md; a test holds the two together. */
export function ruleForConsumers({ service: { name, stream } }: Definition): string {
  const types = Object.entries<EventType<AnyEvent>>(stream.events)
  const unversioned = types.flatMap(([type, { isUnversioned }]) => (isUnversioned ? `\`${type}\`` : []))
  const early =
    unversioned.length === 0
      ? ''
      : ` Treat a ${listed(unversioned, 'or')} without \`streamversion\` as version 1; earlier releases wrote none.`
  return `
Read each partition in order, with the isolation level \`read_committed\`: other programs may write in transactions, and what they
abort never happened. For each record key, remember the last version that you counted (0 before its first event).

1. **Ignore** a record that is not an event of a stream:
   - its value is longer than 16 KiB or is not a CloudEvent,
   - its key differs from its \`subject\`, or has more than 128 bytes,
   - it is not in the partition that the default partitioner chooses for its key,
   - its type does not begin with \`${name}.\`, or is \`${discardedName}\`.
2. **Ignore** an event whose \`streamversion\` is not exactly one above the last version counted for its record key: a competing
   event came first.${early}
3. **Ignore** a duplicate, and do *not* count it: the version of its stream stays as it was. There are two kinds:
   - an event whose \`idempotencykey\` was already counted in this partition, under any record key,
   - an event that you would apply, but that creates something under an id which is taken.
4. **Count** every other event: remember its version for the record key, and its \`idempotencykey\` for the partition. Also count
   events whose type or version you do not know, or every later event of the stream will look superseded.
5. **Apply** an event that you counted, if you know its type. If you cannot read it, or if it contradicts what came before, do not
   apply it. It stays counted. The service parks such an event.
`.trim()
}

const contentType = 'application/cloudevents+json'

/** The AsyncAPI document of the topic. `topic` is null where there is no Kafka. */
export function asyncApiDocument(definition: Definition, topic: string | null) {
  const { service, home, schemas } = definition
  const { collection } = service.stream
  const types = schemas.map(({ type }) => type)
  const channel = { $ref: `#/channels/${collection}` }
  const named: Readonly<Record<string, TSchema>> = {
    ...namedEvents(schemas),
    ...titledIn(schemas.map(({ schema }) => schema.properties)),
  }
  const withReferences = referringTo(named)
  const examples = eventExamples(definition)
  const changed = listed(
    Object.values(service.resources).map(({ noun }) => withArticle(noun)),
    'or',
  )

  function message({ type, name }: EventSchema) {
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
          bindingVersion: '0.5.0',
        },
      },
      examples: examples.filter(({ payload }) => payload.type === type),
    }
  }

  return {
    asyncapi: '3.0.0',
    info: {
      title: `${service.title}: events`,
      version: '1.0.0',
      description: `Every change of ${changed} is an event. To follow them:\n\n## The rule for consumers\n\n${ruleForConsumers(definition)}`,
      license: { name: 'MIT' },
      contact: { name: service.title },
      tags: [{ name: 'events' }],
    },
    defaultContentType: contentType,
    channels: {
      [collection]: {
        address: topic,
        title: capitalised(collection),
        summary: `All events of all ${collection}, kept for ever`,
        description:
          `The record key is the ${home.noun} id in decimal. Kafka’s default partitioner (murmur2) chooses the partition by it, so ` +
          `all events of ${withArticle(home.noun)} have one order. A new consumer can start at offset 0 and learn everything. A producer ` +
          'on librdkafka needs partitioner=murmur2, since its own default is another one. ' +
          'The address is null where the service runs without Kafka.',
        messages: Object.fromEntries(types.map((type) => [type, { $ref: `#/components/messages/${type}` }])),
        bindings: {
          kafka: {
            topicConfiguration: { 'cleanup.policy': ['delete'], 'retention.ms': -1, 'retention.bytes': -1 },
            bindingVersion: '0.5.0',
          },
        },
      },
    },
    operations: {
      sendEvents: {
        action: 'send',
        channel,
        title: 'Tell what happened',
        summary: 'The service appends an event for each change',
        description: `Whatever changes ${changed} is one event, which a consumer counts by the rule above.`,
        messages: types.map((type) => ({ $ref: `${channel.$ref}/messages/${type}` })),
      },
    },
    components: {
      messages: Object.fromEntries(schemas.map((each) => [each.type, message(each)])),
      schemas: Object.fromEntries(
        Object.entries(named).map(([name, schema]) => [name, { ...withoutRules(withReferences(schema)), title: name }]),
      ),
    },
  }
}
