/** Of a Redis Cluster. */
export const slots = 16_384

/** The slot of a key: that of the text in its first braces, if there is any, else of all of it. */
export function hashSlot(key: string): number {
  const tag = /\{([^}]+)\}/.exec(key)
  // Only the first brace counts: `{}{tag}` has no tag.
  const hashed = tag !== null && tag.index === key.indexOf('{') ? (tag[1] ?? '') : key
  return crc16(Buffer.from(hashed)) % slots
}

/** CRC-16/XMODEM, as the Redis Cluster specification has it. */
function crc16(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc
}
