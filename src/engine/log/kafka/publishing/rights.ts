import kafkajs from 'kafkajs'
import { messageOf } from '../../../lib/errors/errors.ts'
import { StandsStill } from '../../published-log.ts'
import { publishingTopics } from './publishing-topics.ts'

// Node does not detect this name in the CommonJS module.
const { KafkaJSAggregateError } = kafkajs

export interface AskedBy {
  /** The topic of the journal. */
  readonly topic: string
  readonly brokers: readonly string[]
}

type Refused = 'TOPIC' | 'GROUP' | 'TRANSACTIONAL_ID' | 'CLUSTER'

/** What the publishers need beside what the journal does, in the syntax of kafka-acls.sh. */
function rightsOn(refused: Refused, topic: string): string {
  const onTopics = ['Create', 'Describe', 'DescribeConfigs', 'Read', 'Write']
    .map((each) => `--operation ${each}`)
    .join(' ')
  const { published, positions } = publishingTopics(topic)
  const rights: Record<Refused, string> = {
    TOPIC: `${onTopics} --topic ${published} --topic ${positions}`,
    GROUP: `--operation Read --operation Describe --group ${topic}.projector.publish- --resource-pattern-type prefixed`,
    TRANSACTIONAL_ID: `--operation Write --operation Describe --transactional-id ${topic}. --resource-pattern-type prefixed`,
    CLUSTER: `${onTopics} --topic ${published} --topic ${positions}`,
  }
  return rights[refused]
}

/** Throws what was thrown; a right that lacks as StandsStill, with the ACL that gives it. */
export function asRefusal({ topic, brokers }: AskedBy): (error: unknown) => never {
  return (error) => {
    const refused = refusedIn(error)
    if (refused === undefined) throw error
    const command = `kafka-acls.sh --bootstrap-server ${brokers.join(',')} --add --allow-principal User:NAME ${rightsOn(refused, topic)}`
    throw new StandsStill(`Kafka refuses to have it published: ${messageOf(error)}. Run ${command}`, { cause: error })
  }
}

/** What a missing right is about; undefined for any other failure. */
function refusedIn(error: unknown): Refused | undefined {
  if (error instanceof KafkaJSAggregateError) return firstOf(error.errors)
  if (!(error instanceof Error)) return undefined
  const [, refused] =
    /^(TOPIC|GROUP|TRANSACTIONAL_ID|CLUSTER)_AUTHORIZATION_FAILED$/.exec(String(Reflect.get(error, 'type'))) ?? []
  return (refused as Refused | undefined) ?? refusedIn(error.cause)
}

function firstOf(errors: readonly unknown[]): Refused | undefined {
  for (const each of errors) {
    const refused = refusedIn(each)
    if (refused !== undefined) return refused
  }
  return undefined
}
