import { readFileSync } from 'node:fs'
import type { ConnectionLimits } from '../http/wire/connections.ts'
import type { Config } from './config.ts'

/** File descriptors reserved for everything but clients: files, and connections to brokers. */
const descriptorsKept = 128
/** Largest share of all connections that a single address may use. */
const shareOfAddress = 0.75

/** Lowers the limits to what the operating system lets this process open. */
export function connectionLimits(
  { maxConnections, maxConnectionsPerAddress, isTrustedProxy }: Config,
  descriptorsMax = readDescriptorsMax(),
): ConnectionLimits {
  const max = Math.max(1, Math.min(maxConnections, descriptorsMax - descriptorsKept))
  const maxPerAddress = Math.max(1, Math.min(maxConnectionsPerAddress, Math.floor(max * shareOfAddress)))
  return { max, maxPerAddress, isTrustedProxy }
}

/** Only Linux reports the limit. Other systems have one too, but it is seldom low. */
function readDescriptorsMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(soft ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
