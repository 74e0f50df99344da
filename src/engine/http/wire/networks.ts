import { isIPv4, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Whether only this machine can connect to a host, given as an address or a name. */
export function isLoopback(host: string): boolean {
  return /^(127\.\d+\.\d+\.\d+|\[?::1\]?|localhost)$/i.test(host)
}

/** As proxies write it that put the port of their client behind it in `X-Forwarded-For`. */
const withPort = /^(?:\[(.*)\]|([\d.]+))(?::\d+)?$/

/** The address without a port; anything else as it is. */
export function withoutPort(text: string): string {
  const [, ipv6 = '', ipv4 = ''] = withPort.exec(text) ?? []
  return isIPv6(ipv6) ? ipv6 : isIPv4(ipv4) ? ipv4 : text
}

/** Where a request comes from: the connection, or what a trusted proxy says. */
export function clientAddress({ ip }: Pick<FastifyRequest, 'ip'>): string {
  return withoutPort(ip)
}

const mappedForm = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i
const groupsOfAddress = 8
const groupsOfNetwork = 4

/** What counts as one address: an IPv4 address, or the /64 of an IPv6 address, whose addresses one client may all use. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const [, mapped] = mappedForm.exec(address) ?? []
  if (mapped !== undefined) return mapped
  const [before = [], behind = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array<string>(Math.max(0, groupsOfAddress - before.length - behind.length)).fill('0')
  return `${[...before, ...zeros, ...behind].slice(0, groupsOfNetwork).join(':')}::/64`
}
