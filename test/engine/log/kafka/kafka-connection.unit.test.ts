import { expect, it, vi } from 'vitest'
import { type KafkaClient, KafkaConnection } from '../../../../src/engine/log/kafka/kafka-client.ts'

function open(options?: { isShared: boolean }) {
  const clients: { abandon: () => void }[] = []
  const newClient = () => {
    const client = { abandon: vi.fn() }
    clients.push(client)
    return client as unknown as KafkaClient
  }
  return { clients, connection: new KafkaConnection(newClient, () => ({ connect: async () => {} }), options) }
}

const slow = () => new Promise<never>(() => {})

it('a shared connection serves its other uses to their end where one of them is too slow, and no new one', async () => {
  const { clients, connection } = open({ isShared: true })
  const { promise, resolve } = Promise.withResolvers<string>()
  const beside = connection.use(60_000, () => promise)
  await expect(connection.use(20, slow)).rejects.toThrow()
  expect(clients[0]?.abandon).not.toHaveBeenCalled()
  expect(await connection.use(60_000, async () => 'next')).toBe('next')
  resolve('beside')
  expect(await beside).toBe('beside')
  expect(clients).toHaveLength(2)
  expect(clients.map(({ abandon }) => vi.mocked(abandon).mock.calls.length)).toEqual([1, 0])
})

it('any other is abandoned at once, so that nothing arrives late', async () => {
  const { clients, connection } = open()
  void connection.use(60_000, slow)
  await expect(connection.use(20, slow)).rejects.toThrow()
  expect(clients[0]?.abandon).toHaveBeenCalled()
})
