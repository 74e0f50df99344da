import { describe, expect, it, onTestFinished } from 'vitest'
import type { KafkaProducer } from '../../../../src/engine/log/kafka/kafka-producer.ts'
import type { KafkaReader } from '../../../../src/engine/log/kafka/kafka-reader.ts'
import { LogWatch } from '../../../../src/engine/log/kafka/log-watch.ts'
import { eventually } from '../../../lib/eventually.ts'
import { silent } from './kafka-fixture.ts'

const [topic, idBlocks] = ['seats', 'seats.id-blocks']
const limitMs = 1000

/** The topics of a log as a process sees them: `values` are the records of its id blocks. */
class Topics {
  values: (string | undefined)[] = []
  events: string[] = []
  /** Ends of partitions that were added to the topics. */
  added: number[] = []
  beforeAppend: (topics: Topics) => void = () => {}
  afterAppend: (topics: Topics) => void = () => {}
  readonly #logId: string

  constructor(logId: string) {
    this.#logId = logId
    this.begin(logId)
  }

  begin(logId: string): void {
    this.values = [JSON.stringify({ epoch: logId, partitions: 1 })]
  }

  /** A process that has opened the log. */
  open(): LogWatch {
    const reader = {
      offsets: async (name: string) => [this.#recordsOf(name).length, ...this.added],
      record: async (name: string, offset: number) => {
        const value = this.#recordsOf(name)[offset]
        return value === undefined ? undefined : { offset, key: null, value: Buffer.from(value) }
      },
    } as unknown as KafkaReader
    const idBlocksProducer = {
      append: async (_: number, [record]: readonly { value: string }[]) => {
        this.beforeAppend(this)
        const offset = this.values.push(record?.value) - 1
        this.afterAppend(this)
        return offset
      },
    } as unknown as KafkaProducer
    const events = { found: false, noted: false, firstRecords: [], foreign: 0 }
    const watch = new LogWatch({
      topic,
      partitions: 1,
      idBlocks,
      reader,
      idBlocksProducer,
      logger: silent,
      logId: this.#logId,
      events,
    })
    onTestFinished(() => watch.close())
    return watch
  }

  #recordsOf(name: string): readonly (string | undefined)[] {
    return name === idBlocks ? this.values : this.events
  }
}

describe('a block of ids on Kafka', () => {
  it('is of one process, however many reserve at once, and of none that begins later', async () => {
    const topics = new Topics('one')
    const blocks = await Promise.all([topics.open(), topics.open()].map((process) => process.reserveBlock(limitMs)))
    blocks.push(await topics.open().reserveBlock(limitMs))
    expect(blocks.toSorted()).toEqual([1, 2, 3])
  })

  it.each<[when: string, replacing: Partial<Topics>]>([
    ['by then', { afterAppend: (topics) => topics.begin('another') }],
    ['just before, without an identity yet', { beforeAppend: ({ values }) => void values.splice(0) }],
  ])('is not given where another log has come in the place of this one %s', async (_, replacing) => {
    const topics = Object.assign(new Topics('one'), replacing)
    const process = topics.open()
    await expect(process.reserveBlock(limitMs)).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await process.replaced
  })

  it.each<[what: string, lose: (topics: Topics) => unknown]>([
    ['is lost', ({ values }) => values.pop()],
    ['is lost, and is reserved again', ({ values }) => values.splice(-1, 1, JSON.stringify({ token: 'of another' }))],
  ])('ends whoever has it when its record %s', async (_, lose) => {
    const topics = new Topics('one')
    const process = topics.open()
    await process.reserveBlock(limitMs)
    await process.confirm(limitMs)
    lose(topics)
    await expect(process.confirm(limitMs)).rejects.toMatchObject({ code: 'event_log_unavailable' })
    await process.replaced
  })
})

it('a log that held events and is empty is not the one that was opened', async () => {
  const topics = Object.assign(new Topics('one'), { events: ['first'] })
  const process = topics.open()
  await process.confirm(limitMs)
  topics.events = []
  await expect(process.confirm(limitMs)).rejects.toMatchObject({ code: 'event_log_unavailable' })
  await process.replaced
})

it('a log whose first event is another one is not the one that was opened, however many it has', async () => {
  const topics = Object.assign(new Topics('one'), { events: ['first'] })
  const process = topics.open()
  await eventually(() => expect(topics.values.at(-1)).toContain('"firstRecords":[{'))
  topics.events = ['first', 'second']
  await process.confirm(limitMs)
  topics.events = ['another', 'second', 'third']
  await expect(process.confirm(limitMs)).rejects.toMatchObject({ code: 'event_log_unavailable' })
  await process.replaced
})

it('the ends of a log are those of its own partitions, whatever is in others that were added', async () => {
  const topics = Object.assign(new Topics('one'), { added: [7] })
  const process = topics.open()
  expect(await process.endOffsets(limitMs)).toEqual([0])
  topics.events.push('a')
  expect(await process.endOffsets(limitMs)).toEqual([1])
})
