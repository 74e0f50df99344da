import { connect } from 'node:net'
import { Kafka, logLevel } from 'kafkajs'

/** A plain client, but for Nagle's algorithm: kafkajs leaves it on, which no comparison is to be won by. */
export function kafkaOf(brokers: readonly string[]): Kafka {
  return new Kafka({
    brokers: [...brokers],
    socketFactory: ({ host, port, onConnect }) => connect({ host, port, noDelay: true }, onConnect),
    logLevel: logLevel.ERROR,
  })
}
