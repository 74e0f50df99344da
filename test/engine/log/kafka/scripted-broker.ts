import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** What a produce request asks for, beside its records. */
interface Asked {
  readonly acks: number
  readonly timeoutMs: number
}

const [produce, metadata, apiVersions] = [0, 3, 18] // Kafka protocol, API keys

/**
 * The part of Kafka's protocol that a producer needs, for one topic of one partition. It stores nothing, and answers as
 * the test says: with these error codes, or by closing the connection.
 */
export class ScriptedBroker {
  readonly topic = 'seats'
  produceAnswer: number | 'close' | 'nothing' = 0
  metadataError = 0
  readonly asked: Asked[] = []
  readonly #server = createServer((socket) => this.#serve(socket))
  readonly #sockets = new Set<Socket>()

  static async start(): Promise<ScriptedBroker> {
    const broker = new ScriptedBroker()
    await once(broker.#server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => broker.stop())
    return broker
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  stop(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}) // kafkajs has gone
    let bytes = Buffer.alloc(0)
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk])
      while (bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE()) {
        const end = 4 + bytes.readInt32BE()
        this.#answer(socket, bytes.subarray(4, end))
        bytes = bytes.subarray(end)
      }
    })
  }

  /** A request: its API key and version, a number that its answer repeats, and the name of the client. */
  #answer(socket: Socket, request: Buffer): void {
    const correlation = request.subarray(4, 8)
    const body = request.subarray(10 + request.readInt16BE(8))
    const answer = this.#answerTo(request.readInt16BE(0), body)
    if (answer === 'close') socket.destroy()
    else if (answer !== 'nothing') socket.write(Buffer.concat([int32(4 + answer.length), correlation, answer]))
  }

  #answerTo(apiKey: number, body: Buffer): Buffer | 'close' | 'nothing' {
    if (apiKey === apiVersions) {
      const only = (key: number, version: number) => [int16(key), int16(version), int16(version)]
      return Buffer.concat([int16(0), array(only(produce, 3), only(metadata, 0), only(apiVersions, 0)), int32(0)])
    }
    if (apiKey === metadata) {
      const replicas = array([int32(0)])
      const partition = [int16(0), int32(0), int32(0), replicas, replicas]
      const brokers = array([int32(0), text('127.0.0.1'), int32(this.port)])
      return Buffer.concat([brokers, array([int16(this.metadataError), text(this.topic), array(partition)])])
    }
    // Version 3 begins with the transactional id, whose length is -1 where there is none.
    this.asked.push({ acks: body.readInt16BE(2), timeoutMs: body.readInt32BE(4) })
    if (typeof this.produceAnswer === 'string') return this.produceAnswer
    const partition = [int32(0), int16(this.produceAnswer), int64(40n), int64(-1n)]
    return Buffer.concat([array([text(this.topic), array(partition)]), int32(0)])
  }
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(value)
  return bytes
}

function text(value: string): Buffer {
  return Buffer.concat([int16(value.length), Buffer.from(value)])
}

function array(...elements: readonly (readonly Buffer[])[]): Buffer {
  return Buffer.concat([int32(elements.length), ...elements.flat()])
}
