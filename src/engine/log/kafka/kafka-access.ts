import type { ConnectionOptions } from 'node:tls'
import type { SASLOptions } from 'kafkajs'
import type { Logger } from 'pino'
import { type Changing, current } from '../../lib/changing.ts'

/** Where the brokers are, and the credentials for them. */
export interface KafkaAccess {
  /** host:port of some brokers, or [IPv6 address]:port; kafkajs discovers the rest of the cluster through them. */
  readonly brokers: readonly string[]
  readonly tls?: Changing<ConnectionOptions | true> | undefined
  readonly sasl?: Sasl | undefined
  readonly logger: Logger
}

interface Sasl {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly username: Changing<string>
  readonly password: Changing<string>
}

/** kafkajs asks for both whenever it authenticates, at the end of a session as well. */
export function readWhenUsed({ mechanism, username, password }: Sasl): SASLOptions {
  return {
    mechanism,
    get username() {
      return current(username)
    },
    get password() {
      return current(password)
    },
  }
}
