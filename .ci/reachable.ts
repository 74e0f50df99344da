/** reachable.ts HOST:PORT: fails unless a Kafka client on this machine gets on with the address that the broker advertises, by password only. */
import { kafkaAnswers, until } from '../test/brokers/ready.ts'

const brokers = process.argv[2] ?? ''
const consumer = (password: string) => ({ sasl: { mechanism: 'plain', username: 'consumer', password } }) as const
await until(`Kafka answers on ${brokers}`, 10_000, () => kafkaAnswers(brokers, consumer('for-development')))
for (const other of [undefined, consumer('wrong')]) {
  if (await kafkaAnswers(brokers, other)) throw new Error(`Kafka answers on ${brokers} without its password`)
}
