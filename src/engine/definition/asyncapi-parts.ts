/** What AsyncAPI documents consist of: a topic is a channel, a kind of record a message. */

import type { eventExamples } from './event-examples.ts'

const bindingVersion = '0.5.0'

export interface Texts {
  readonly title: string
  readonly description: string
}

interface Channel extends Texts {
  /** The topic; null where there is no Kafka. */
  readonly address: string | null
  /** The ids of its messages, by what the channel calls them. */
  readonly messages: Readonly<Record<string, string>>
  readonly topicConfiguration: Readonly<Record<string, unknown>>
}

export function channelPart({ address, title, description, messages, topicConfiguration }: Channel) {
  const references = Object.entries(messages).map(
    ([name, id]) => [name, { $ref: `#/components/messages/${id}` }] as const,
  )
  return {
    address,
    title,
    description,
    messages: Object.fromEntries(references),
    bindings: { kafka: { topicConfiguration, bindingVersion } },
  }
}

interface Message {
  readonly name: string
  readonly contentType: string
  /** Beside `content-type`, which each record has. */
  readonly headers: Readonly<Record<string, object>>
  /** Those of them that each record has. */
  readonly required: readonly string[]
  readonly payload:
    | { readonly $ref: string }
    | { readonly $ref?: never; readonly type: 'null'; readonly description: string }
  /** What the record key is. */
  readonly key: { readonly description: string; readonly pattern: string }
  readonly examples: ReturnType<typeof eventExamples>
}

export function messagePart(message: Message) {
  const { name, contentType, headers, required, payload, key, examples } = message
  return {
    name,
    title: name,
    contentType,
    headers: {
      type: 'object',
      required: ['content-type', ...required],
      properties: { 'content-type': { type: 'string', const: contentType }, ...headers },
    },
    payload,
    bindings: { kafka: { key: { type: 'string', ...key }, bindingVersion } },
    examples,
  }
}

/** What is sent to a channel: all its messages. */
export function sendPart(channel: string, messages: readonly string[], texts: Texts) {
  const $ref = `#/channels/${channel}`
  return {
    action: 'send',
    channel: { $ref },
    ...texts,
    messages: messages.map((name) => ({ $ref: `${$ref}/messages/${name}` })),
  }
}
