/**
 * The partition of a record key by Kafka's default partitioner (murmur2 of its UTF-8 bytes), so that any Kafka client
 * agrees. kafkajs has the same function, but computes with BigInt: 0.9 µs per key, for every projected record.
 */
export function partitionOf(key: string, partitions: number): number {
  return (murmur2(Buffer.from(key)) & 0x7fffffff) % partitions
}

const seed = 0x9747b28c
const multiplier = 0x5bd1e995

function murmur2(bytes: Buffer): number {
  const { length } = bytes
  let hash = seed ^ length
  let at = 0
  for (; at + 4 <= length; at += 4) {
    const block = Math.imul(bytes.readInt32LE(at), multiplier)
    hash = Math.imul(hash, multiplier) ^ Math.imul(block ^ (block >>> 24), multiplier)
  }
  if (at < length) hash = Math.imul(hash ^ bytes.readUIntLE(at, length - at), multiplier)
  hash = Math.imul(hash ^ (hash >>> 13), multiplier)
  return hash ^ (hash >>> 15)
}
