import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
const folder = 'kafkajs/src'

/** A module of kafkajs that it does not export. */
export function moduleOfKafkajs(path: string) {
  return require(`${folder}/${path}`)
}

/** Puts another export in the place of a module of kafkajs, for all that load it from now on. */
export function replaceInKafkajs(path: string, exported: unknown): void {
  const file = require.resolve(`${folder}/${path}`)
  require(file)
  const module = require.cache[file]
  if (module === undefined) throw new Error(`${file} is not a separate module`)
  module.exports = exported
}

/** A native module, loaded only with Kafka. */
export function nativeCrc32c(): (bytes: Buffer) => number {
  return require('@node-rs/crc32').crc32c
}
