import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type ISocketFactoryArgs, Kafka, type KafkaConfig, logLevel } from 'kafkajs'
import type { Logger } from 'pino'
import { current } from '../../lib/changing.ts'
import { program } from '../../lib/operating/release.ts'
import { withTimeout } from '../../lib/with-timeout.ts'
import type { Offset } from '../event-log.ts'
import { type KafkaAccess, readWhenUsed } from './kafka-access.ts'

/** Long enough for a full garbage collection of a broker; short enough for two of them within an append's time limit. */
const requestTimeoutMs = 3000
const connectLimitMs = 1000
const keepAliveMs = 60_000
const produceApiKey = 0 // Kafka protocol, API keys

let clients = 0

/**
 * A kafkajs client that can be abandoned: from then on nothing leaves it and nothing reaches it. kafkajs itself would
 * reconnect after `disconnect()` and send what it still holds.
 */
export class KafkaClient {
  readonly kafka: Kafka
  /**
   * Produce requests handed to a socket so far. If the number has not changed since some moment, none sent since then
   * can arrive.
   */
  produceRequests = 0
  readonly #tls: KafkaAccess['tls']
  readonly #sockets = new Set<Socket>()
  #abandoned = false

  constructor({ brokers, tls, sasl, logger }: KafkaAccess) {
    this.#tls = tls
    const first = clients++ % brokers.length // so that not every new client asks a dead broker first
    const seeds = brokers.map(withoutColons)
    this.kafka = new Kafka({
      clientId: program,
      brokers: [...seeds.slice(first), ...seeds.slice(0, first)],
      ...(tls === undefined ? {} : { ssl: true }),
      ...(sasl === undefined ? {} : { sasl: readWhenUsed(sasl) }),
      connectionTimeout: connectLimitMs,
      authenticationTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // A request sent earlier is answered, or given up, before the broker's session ends and the connection with it. By
      // default 10 s. A shorter session would begin too late, and the broker refuses a second one within a second.
      reauthenticationThreshold: requestTimeoutMs,
      // Each broker is asked once. Set explicitly, since the defaults of kafkajs differ under NODE_ENV=test.
      retry: { retries: brokers.length - 1, initialRetryTime: 50, maxRetryTime: 200, factor: 0.2, multiplier: 2 },
      socketFactory: (target) => this.#open(target),
      ...logging(logger),
    })
  }

  abandon(): void {
    this.#abandoned = true
    // Only an error makes kafkajs reject requests that wait for an answer: it does not listen to `close`.
    for (const socket of this.#sockets) socket.destroy(new Error('the Kafka client was abandoned'))
  }

  /** kafkajs tries a connection again if this throws, as it does where TLS files cannot be read. */
  #open({ host: hidden, port, onConnect }: ISocketFactoryArgs): Socket {
    if (this.#abandoned) throw new Error('the Kafka client was abandoned')
    const host = withColons(hidden)
    const servername = isIP(host) === 0 ? { servername: host } : {}
    const tls = this.#tls && current(this.#tls)
    const socket = tls
      ? connectTls({ host, port, ...servername, ...(tls === true ? {} : tls) }, onConnect)
      : connect({ host, port }, onConnect)
    socket.setNoDelay(true) // kafkajs leaves Nagle's algorithm on: up to 40 ms per request
    socket.setKeepAlive(true, keepAliveMs)
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    this.#countProduceRequests(socket)
    return socket
  }

  #countProduceRequests(socket: Socket): void {
    const write = socket.write.bind(socket)
    const counting = (request: Buffer, encoding: BufferEncoding): boolean => {
      // Kafka protocol: a request begins with its size (int32) and its API key (int16).
      if (request.length >= 6 && request.readInt16BE(4) === produceApiKey) this.produceRequests++
      return write(request, encoding)
    }
    socket.write = counting as typeof socket.write
  }
}

/** kafkajs takes what follows the first colon for the port: it is given an IPv6 address with semicolons in their place. */
function withoutColons(broker: string): string {
  const [, address, port] = /^\[(.+)\]:(\d+)$/.exec(broker) ?? []
  return address === undefined ? broker : `${address.replaceAll(':', ';')}:${port}`
}

function withColons(host: string): string {
  return host.replaceAll(';', ':')
}

/** Most errors that kafkajs logs resolve by themselves, so they go to level debug, and its requests to level trace. */
function logging(logger: Logger): Pick<KafkaConfig, 'logLevel' | 'logCreator'> {
  let wanted = logLevel.NOTHING
  if (logger.isLevelEnabled('debug')) wanted = logLevel.INFO
  if (logger.isLevelEnabled('trace')) wanted = logLevel.DEBUG
  return {
    logLevel: wanted,
    logCreator:
      () =>
      ({ namespace, level, log: { timestamp, logger: _, message, ...details } }) => {
        const broker = typeof details.broker === 'string' && { broker: withColons(details.broker) }
        const fields = { namespace, ...details, ...broker }
        logger[level === logLevel.DEBUG ? 'trace' : 'debug'](fields, `kafkajs: ${message}`)
      },
  }
}

interface Connected<T> {
  readonly client: KafkaClient
  readonly part: Promise<T>
  uses: number
  hasFailed: boolean
}

/**
 * Connects a client of its own when it is first used, for example a producer. After any failure the client is abandoned
 * for good, so that nothing arrives late, and the next use creates a new one. One that `isShared` serves its other uses
 * to their end before that: a slow read says nothing of those beside it.
 */
export class KafkaConnection<T extends { connect(): Promise<void> }> {
  readonly #newClient: () => KafkaClient
  readonly #make: (kafka: Kafka) => T
  readonly #isShared: boolean
  #current: Connected<T> | undefined
  #closed = false

  constructor(newClient: () => KafkaClient, make: (kafka: Kafka) => T, { isShared = false } = {}) {
    this.#newClient = newClient
    this.#make = make
    this.#isShared = isShared
  }

  async use<R>(limitMs: number, work: (part: T, client: KafkaClient) => Promise<R>): Promise<R> {
    if (this.#closed) throw new Error('the connection to Kafka is closed')
    const deadline = performance.now() + limitMs
    this.#current ??= this.#connect(limitMs)
    const current = this.#current
    current.uses++
    try {
      const part = await withTimeout(limitMs, current.part)
      return await withTimeout(deadline - performance.now(), work(part, current.client))
    } catch (error) {
      current.hasFailed = true
      if (this.#current === current) this.#current = undefined
      throw error
    } finally {
      current.uses--
      if (current.hasFailed && (current.uses === 0 || !this.#isShared)) current.client.abandon()
    }
  }

  close(): void {
    this.#closed = true
    this.#current?.client.abandon()
  }

  #connect(limitMs: number): Connected<T> {
    const client = this.#newClient()
    const part = this.#make(client.kafka)
    const connecting = withTimeout(Math.min(connectLimitMs, limitMs), part.connect())
    return { client, part: connecting.then(() => part), uses: 0, hasFailed: false }
  }
}

/** An offset from the decimal text of kafkajs. Throws beyond 2^53 - 1, where a number would no longer be exact. */
export function toOffset(text: string): Offset {
  const offset = Number(text)
  if (text !== '' && Number.isSafeInteger(offset) && offset >= 0) return offset
  throw new RangeError(`not an offset from 0 to 2^53 - 1: ${text}`)
}
