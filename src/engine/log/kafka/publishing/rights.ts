import kafkajs, { type Broker } from 'kafkajs'
import { messageOf } from '../../../lib/errors/errors.ts'
import { RightMissing } from '../../published-log.ts'
import type { KafkaReader } from '../kafka-reader.ts'
import { groupOf, type PublisherOf, positionsOf, toldTopics, transactionalIdOf } from './publishing-topics.ts'

// Node does not detect this name in the CommonJS module.
const { KafkaJSAggregateError } = kafkajs

export interface AskedBy extends PublisherOf {
  readonly brokers: readonly string[]
}

type Refused = 'TOPIC' | 'GROUP' | 'TRANSACTIONAL_ID' | 'CLUSTER'

/** Requests that the types of kafkajs leave out. */
interface AskableBroker extends Broker {
  heartbeat(request: { groupId: string; groupGenerationId: number; memberId: string }): Promise<unknown>
  addPartitionsToTxn(request: {
    readonly transactionalId: string
    readonly producerId: number
    readonly producerEpoch: number
    readonly topics: readonly { readonly topic: string; readonly partitions: readonly number[] }[]
  }): Promise<unknown>
}

const nobody = { producerId: -1, producerEpoch: -1 } // no producer has it, so nothing of it is carried out
const askLimitMs = 3000

/**
 * Asks for what only an owner of a lane does, in the name of nobody: Kafka looks first at the rights, and then refuses it
 * anyhow. Its answers to kafkajs' own requests for a coordinator do not reach us. Throws RightMissing.
 */
export async function askForRights(reader: KafkaReader, by: AskedBy): Promise<void> {
  const transactionalId = transactionalIdOf(by, 0)
  const groupId = groupOf(by)
  const answers = await reader.ask(askLimitMs, async (cluster) => {
    await cluster.addTargetTopic(by.topic)
    const broker = (await cluster.findControllerBroker()) as AskableBroker
    const begin = (topic: string) =>
      broker.addPartitionsToTxn({ transactionalId, ...nobody, topics: [{ topic, partitions: [0] }] })
    const beat = broker.heartbeat({ groupId, groupGenerationId: -1, memberId: 'nobody' })
    return await Promise.allSettled([...topicsOf(by).map(begin), beat])
  })
  for (const answer of answers) if (answer.status === 'rejected') refusalOf(by)(answer.reason)
}

/** Throws what was thrown; a right that lacks as RightMissing. */
export function asRefusal(by: AskedBy): (error: unknown) => never {
  return (error) => {
    refusalOf(by)(error)
    throw error
  }
}

/** Throws if a right lacks. */
function refusalOf(by: AskedBy): (error: unknown) => void {
  return (error) => {
    const { what, cause } = refusedIn(error) ?? {}
    if (what === undefined) return
    const command = `kafka-acls.sh --bootstrap-server ${by.brokers.join(',')} --add --allow-principal User:NAME ${rightsOn(what, by)}`
    throw new RightMissing(`Kafka refuses to have it published: ${messageOf(cause)}. Run ${command}`, { cause: error })
  }
}

/** What the publishers need beside what the journal does, in the syntax of kafka-acls.sh. */
function rightsOn(refused: Refused, by: AskedBy): string {
  const onTopics = ['Create', 'DescribeConfigs', 'Read', 'Write'].map((each) => `--operation ${each}`).join(' ')
  const topics = topicsOf(by).map((topic) => `--topic ${topic}`)
  const rights: Record<Refused, string> = {
    TOPIC: `${onTopics} ${topics.join(' ')}`,
    GROUP: `--operation Read --group ${by.topic}.projector. --resource-pattern-type prefixed`,
    TRANSACTIONAL_ID: `--operation Write --transactional-id ${by.topic}. --resource-pattern-type prefixed`,
    CLUSTER: `${onTopics} ${topics.join(' ')}`,
  }
  return rights[refused]
}

function topicsOf(by: AskedBy): readonly string[] {
  return [...toldTopics(by), positionsOf(by.topic)]
}

interface Refusal {
  /** What a right lacks on. */
  readonly what: Refused
  readonly cause: Error
}

/** Undefined for any other failure. */
function refusedIn(error: unknown): Refusal | undefined {
  if (error instanceof KafkaJSAggregateError) return firstOf(error.errors)
  if (!(error instanceof Error)) return undefined
  const [, what] =
    /^(TOPIC|GROUP|TRANSACTIONAL_ID|CLUSTER)_AUTHORIZATION_FAILED$/.exec(String(Reflect.get(error, 'type'))) ?? []
  return what === undefined ? refusedIn(error.cause) : { what: what as Refused, cause: error }
}

function firstOf(errors: readonly unknown[]): Refusal | undefined {
  for (const each of errors) {
    const refused = refusedIn(each)
    if (refused !== undefined) return refused
  }
  return undefined
}
