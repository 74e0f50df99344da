import { referringTo } from '../engine/lib/named-schemas.ts'
import { eventExamples } from './event-examples.ts'
import { EventDiscardedData, type EventType, eventName, eventSchemas, namedEventSchemas } from './event-schemas.ts'
import { PetSchema, PetStatus } from './pet.ts'

/** Word for word as in docs/events.md; a test holds the two together. */
const ruleForConsumers = `
Read each partition in order, with the isolation level \`read_committed\`: other programs may write in transactions, and what they
abort never happened. For each record key, remember the last version that you counted (0 before its first event).

1. **Ignore** a record that is not an event of a stream:
   - its value is longer than 16 KiB or is not a CloudEvent,
   - its key differs from its \`subject\`, or has more than 128 bytes,
   - it is not in the partition that the default partitioner chooses for its key,
   - its type does not begin with \`petstore.\`, or is \`EventDiscarded\`.
2. **Ignore** an event whose \`streamversion\` is not exactly one above the last version counted for its record key: a competing
   event came first. Treat a \`PetCreated\` without \`streamversion\` as version 1; earlier releases wrote none.
3. **Ignore** a duplicate, and do *not* count it: the version of its stream stays as it was. There are two kinds:
   - an event whose \`idempotencykey\` was already counted in this partition, under any record key,
   - an \`OrderPlaced\` that you would apply, but for an order that has its \`orderId\` already.
4. **Count** every other event: remember its version for the record key, and its \`idempotencykey\` for the partition. Also count
   events whose type or version you do not know, or every later event of the stream will look superseded.
5. **Apply** an event that you counted, if you know its type. If you cannot read it, or if it contradicts what came before, do not
   apply it. It stays counted. The service parks such an event.
`.trim()

const contentType = 'application/cloudevents+json'
const channel = { $ref: '#/channels/pets' }
const names = Object.keys(eventSchemas) as EventType[]

const schemas = { ...namedEventSchemas(eventSchemas), EventDiscardedData, Pet: PetSchema, PetStatus }
const withReferences = referringTo(schemas)

/** The AsyncAPI document of the topic. `topic` is null where there is no Kafka. */
export function asyncApiDocument(topic: string | null) {
  const messages = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }]))
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Petstore Animals: events',
      version: '1.0.0',
      description: `Every change of a pet or an order is an event. To follow them:\n\n## The rule for consumers\n\n${ruleForConsumers}`,
      license: { name: 'MIT' },
      contact: { name: 'Petstore Animals' },
      tags: [{ name: 'events' }],
    },
    defaultContentType: contentType,
    channels: {
      pets: {
        address: topic,
        title: 'Pets',
        summary: 'All events of all pets, kept for ever',
        description:
          'The record key is the pet id in decimal. Kafka’s default partitioner (murmur2) chooses the partition by it, so ' +
          'all events of a pet have one order. A new consumer can start at offset 0 and learn everything. A producer ' +
          'on librdkafka needs partitioner=murmur2, since its own default is another one. ' +
          'The address is null where the service runs without Kafka.',
        messages,
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
        description: 'Whatever changes a pet or an order is one event, which a consumer counts by the rule above.',
        messages: names.map((name) => ({ $ref: `${channel.$ref}/messages/${name}` })),
      },
    },
    components: {
      messages: Object.fromEntries(names.map((name) => [name, message(name)])),
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, { ...withReferences(schema), title: name }]),
      ),
    },
  }
}

function message(name: EventType) {
  return {
    name,
    title: name,
    contentType,
    headers: {
      type: 'object',
      required: ['content-type'],
      properties: { 'content-type': { type: 'string', const: contentType } },
    },
    payload: { $ref: `#/components/schemas/${eventName(name)}` },
    bindings: {
      kafka: {
        key: { type: 'string', pattern: '^[1-9][0-9]*$', description: 'The pet id in decimal, equal to `subject`' },
        bindingVersion: '0.5.0',
      },
    },
    examples: eventExamples.filter(({ payload }) => payload.type === name),
  }
}
