import { readFileSync } from 'node:fs'
import type { ConnectionLimits } from '../http/connections.ts'
import type { Config } from './config.ts'

/** File descriptors for all but the clients: files, and connections to brokers. */
const descriptorsKept = 128
/** How much of all connections a single address may have, where there are so few that a limit of its own would be all. */
const shareOfAddress = 0.75

/** Never more connections than the operating system lets this process have. */
export function connectionLimits(
  { maxConnections, maxConnectionsPerAddress, isTrustedProxy }: Config,
  descriptorsMax = readDescriptorsMax(),
): ConnectionLimits {
  const max = Math.max(1, Math.min(maxConnections, descriptorsMax - descriptorsKept))
  const maxPerAddress = Math.max(1, Math.min(maxConnectionsPerAddress, Math.floor(max * shareOfAddress)))
  return { max, maxPerAddress, isTrustedProxy }
}

/** Linux alone tells; others have bounds too, but seldom low ones. */
function readDescriptorsMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return Number(soft ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
