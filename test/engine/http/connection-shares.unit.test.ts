import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { Connection } from '../../../src/engine/http/wire/connection.ts'
import { ConnectionShares } from '../../../src/engine/http/wire/connection-shares.ts'

/** A server with room for so many connections that strangers never have more than their part. */
const max = 100

/** Each holder has as many connections, which have been read. */
function shared(holders: readonly (readonly [owner: string, keyId: string, count: number])[]) {
  const shares = new ConnectionShares(() => true)
  const connections = holders.flatMap(([owner, keyId, count]) =>
    Array.from({ length: count }, () => {
      const connection = new Connection(new Socket(), '192.0.2.1', (changed) => shares.add(changed))
      shares.add(connection)
      connection.letIn({ owner, keyId, scopes: undefined })
      connection.isUnread = false
      return connection
    }),
  )
  return { shares, connections }
}

it('the keys of one owner count together', () => {
  const { shares } = shared([
    ['other', 'key', 3],
    ['rotating', 'old', 2],
    ['rotating', 'new', 2],
  ])
  expect(shares.toMakeRoom(max)?.whose).toBe('rotating')
})

it('one that has not been read yet does not make room', () => {
  const { shares, connections } = shared([
    ['some', 'one', 3],
    ['other', 'two', 1],
  ])
  for (const connection of connections.slice(0, 3)) connection.isUnread = true
  expect(shares.toMakeRoom(max)?.whose).toBe('other')
  for (const connection of connections) connection.isUnread = true
  expect(shares.toMakeRoom(max)).toBeUndefined()
})
