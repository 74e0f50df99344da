/** reachable.ts HOST:PORT: fails unless a Kafka client on this machine gets on with the address that the broker advertises. */
import { kafkaAnswers, until } from '../test/brokers/ready.ts'

const brokers = process.argv[2] ?? ''
await until(`Kafka answers on ${brokers}`, 10_000, () => kafkaAnswers(brokers))
