import type { PlantedBug } from '../bug.ts'

const sqliteLog = 'src/engine/log/sqlite/sqlite-event-log.ts'
const sqliteFile = 'src/engine/log/sqlite/log-file.ts'
const durability = 'test/engine/log/sqlite/sqlite-durability.unit.test.ts'
const kafkaProducer = 'src/engine/log/kafka/kafka-producer.ts'
const producer = 'test/engine/log/kafka/kafka-producer.unit.test.ts'
const logWatch = 'src/engine/log/kafka/log-watch.ts'

export const logBugs: readonly PlantedBug[] = [
  {
    name: 'acks: 1',
    file: kafkaProducer,
    text: 'acks: -1',
    becomes: 'acks: 1',
    caughtBy: {
      file: producer,
      title: 'asks for all in-sync replicas, and for an answer before it stops waiting for one',
    },
  },
  {
    name: '"not enough replicas after append" is taken for "not stored"',
    file: kafkaProducer,
    text: 'error.cause.type === retriableRefusal',
    becomes: 'error.cause.type.startsWith(retriableRefusal)',
    caughtBy: { file: producer, title: 'knows of each error of Kafka whether something may be stored' },
  },
  {
    name: 'kafkajs repeats a request that may be stored',
    file: kafkaProducer,
    text: 'retry: { retries: 0 }',
    becomes: 'retry: { retries: 1 }',
    caughtBy: { file: producer, title: 'sends nothing twice' },
  },
  {
    name: 'synchronous = NORMAL for the log',
    file: sqliteFile,
    text: 'PRAGMA synchronous = FULL',
    becomes: 'PRAGMA synchronous = NORMAL',
    caughtBy: { file: durability, title: 'is on disk before an append is, whatever happens to the machine' },
  },
  {
    name: 'the checksum of a record does not cover the one before it',
    file: 'src/engine/log/sqlite/record-checksum.ts',
    text: 'crc32(bytes, crc32(head, before))',
    becomes: 'crc32(bytes, crc32(head, before - before))',
    caughtBy: {
      file: 'test/engine/log/sqlite/sqlite-damage.unit.test.ts',
      title: 'is told from another log by each record, though its checksum fits it there',
    },
  },
  {
    name: 'a backup over the files of a killed process is opened with their WAL',
    file: sqliteFile,
    text: 'wal.size === 0 || writeVersionOf(file) === walVersion',
    becomes: 'wal.size >= 0',
    caughtBy: {
      file: 'test/engine/log/sqlite/sqlite-copy.unit.test.ts',
      title: 'over the files of a killed process is refused as it is, and served once the -wal is gone',
    },
  },
  {
    name: 'a block of ids is given before its commit',
    file: sqliteLog,
    text: 'this.#transaction(() => Number(this.#reserveBlock.get()?.value))',
    becomes: 'Number(this.#reserveBlock.get()?.value)',
    caughtBy: { file: durability, title: 'is no block of ids whose commit fails, which the next reservation gets' },
  },
  {
    name: 'a block of ids is given again after a restart (SQLite)',
    file: sqliteFile,
    text: 'const has = (name: string) => columnsOf(db, name).length > 0',
    becomes: `const has = (name: string) => columnsOf(db, name).length > 0
  if (has('meta')) db.exec("REPLACE INTO meta VALUES ('block', 0)")`,
    caughtBy: {
      file: 'test/engine/log/sqlite/sqlite-event-log.unit.test.ts',
      title: 'never gives a number twice: at once, from two objects, nor after reopening',
    },
  },
  {
    name: 'a block of ids is given to two processes (Kafka)',
    file: logWatch,
    text: "const block = await this.#append('block', token, deadline - performance.now())",
    becomes: `const [block = 0] = await this.#options.reader.offsets(idBlocks, 'next', deadline - performance.now())
    await this.#append('block', token, deadline - performance.now())`,
    caughtBy: {
      file: 'test/engine/log/kafka/log-watch.unit.test.ts',
      title: 'is of one process, however many reserve at once, and of none that begins later',
    },
  },
  {
    name: 'a block of ids is given from a log that replaced this one',
    file: logWatch,
    text: `    await this.confirm(deadline - performance.now())
    return block`,
    becomes: '    return block',
    caughtBy: {
      file: 'test/engine/log/kafka/log-watch.unit.test.ts',
      title: 'is not given where another log has come in the place of this one by then',
    },
  },
  {
    name: 'a block of ids that the log has lost is drawn from',
    file: logWatch,
    text: '[this.#identity, this.#lastBlock]',
    becomes: '[this.#identity]',
    caughtBy: {
      file: 'test/engine/log/kafka/log-watch.unit.test.ts',
      title: 'ends whoever has it when its record is lost',
    },
  },
  {
    name: 'a log whose events are gone is taken for the one that was opened',
    file: logWatch,
    text: 'else if (heldEvents) this.#markReplaced',
    becomes: 'else if (heldEvents && ends.length === 0) this.#markReplaced',
    caughtBy: {
      file: 'test/engine/log/kafka/log-watch.unit.test.ts',
      title: 'a log that held events and is empty is not the one that was opened',
    },
  },
  {
    name: 'what waited too long is refused and still appended',
    file: 'src/engine/log/group-commit.ts',
    text: 'this.#queues[partition] = queue.filter(({ deadline }) => deadline > now)',
    becomes: 'this.#queues[partition] = [...queue]',
    caughtBy: {
      file: 'test/engine/log/group-commit.unit.test.ts',
      title: 'after the time limit: in flight is unknown, waiting is surely not appended and never will be',
    },
  },
]
