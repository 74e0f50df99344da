/**
 * Prints each change of a pet or an order that took effect, as one line of JSON. A line is printed before its position is
 * stored: after a crash some lines come once more, with the same partition and offset, and none is lost.
 */
import { writeSync } from 'node:fs'
import { Database } from './database.ts'
import { follow } from './kafka.ts'

const database = new Database(process.env.DATABASE ?? 'consumer.db')

await follow(process.env.KAFKA_GROUP ?? 'example-consumer', database, (effect, at) => {
  writeSync(1, `${toJson({ ...at, ...effect })}\n`)
})
database.sql.close()

/** With all digits of a bigint. */
function toJson(value: unknown): string {
  const rawJson = (JSON as JSON & { rawJSON(text: string): unknown }).rawJSON // missing from TypeScript's lib
  return JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? rawJson(String(part)) : part))
}
