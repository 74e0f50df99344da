import { expect, it } from 'vitest'
import { readWhenUsed } from '../../../../src/engine/log/kafka/kafka-access.ts'

it('user and password are asked for whenever kafkajs authenticates, which reads them from its options', () => {
  let times = 0
  const sasl = readWhenUsed({ mechanism: 'plain', username: 'user', password: () => `password ${++times}` })
  expect(times).toBe(0)
  const read = () => (sasl as { password: string }).password
  expect([sasl.mechanism, read(), read()]).toEqual(['plain', 'password 1', 'password 2'])
})

it('one that cannot be read fails the authentication with its own error', () => {
  const reason = new Error('the file is empty')
  const password = () => {
    throw reason
  }
  const sasl = readWhenUsed({ mechanism: 'scram-sha-256', username: 'user', password })
  expect(() => (sasl as { password: string }).password).toThrow(reason)
})
