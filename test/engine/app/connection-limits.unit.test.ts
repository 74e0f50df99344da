import { expect, it } from 'vitest'
import { readConfig } from '../../../src/engine/app/config.ts'
import { connectionLimits } from '../../../src/engine/app/connection-limits.ts'
import { theatre } from '../theatre/theatre.ts'

it.each([
  [{}, 1_000_000, { max: 2000, maxPerAddress: 1000 }],
  [{}, 512, { max: 384, maxPerAddress: 288 }],
  [{}, 10, { max: 1, maxPerAddress: 1 }],
  [{ MAX_CONNECTIONS: '100', MAX_CONNECTIONS_PER_ADDRESS: '100' }, 512, { max: 100, maxPerAddress: 75 }],
  [{ MAX_CONNECTIONS: '100', MAX_CONNECTIONS_PER_ADDRESS: '5' }, 512, { max: 100, maxPerAddress: 5 }],
])('%j with %i descriptors is %j', (environment, descriptors, limits) => {
  expect(connectionLimits(readConfig(theatre, environment), descriptors)).toMatchObject(limits)
})

it('knows the proxies that are trusted, by address and by network', () => {
  const { isTrustedProxy } = readConfig(theatre, { TRUST_PROXY: '10.0.0.0/8, 192.0.2.1,2001:db8::/32' })
  expect(['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1', '2001:db8::1'].map(isTrustedProxy)).toEqual(Array(4).fill(true))
  expect(['11.0.0.1', '192.0.2.2', '2001:db9::1', ''].map(isTrustedProxy)).toEqual(Array(4).fill(false))
  expect(readConfig(theatre, {}).isTrustedProxy('127.0.0.1')).toBe(false)
})
