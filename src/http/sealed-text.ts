import { crc32 } from 'node:zlib'

/**
 * Text for clients to hand back as it is: base64url of the content and its checksum. The checksum tells damage; it is no
 * secret, as sealed text gives access to nothing.
 */
export function seal(content: string): string {
  return Buffer.from(`${content}:${checksum(content)}`).toString('base64url')
}

/** The content; undefined unless made by `seal`. */
export function unseal(sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  const text = bytes.toString('latin1')
  const content = text.slice(0, Math.max(0, text.lastIndexOf(':')))
  // Decoding ignores what is not base64url, hence the way back.
  const isWhole = text === `${content}:${checksum(content)}` && bytes.toString('base64url') === sealed
  return isWhole ? content : undefined
}

function checksum(content: string): string {
  return crc32(content).toString(16)
}
