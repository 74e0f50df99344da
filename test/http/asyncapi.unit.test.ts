import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { testServer } from './fake-services.ts'

const server = testServer()

it('/asyncapi.json is the document of the topic, as JSON, without a key', async () => {
  const { statusCode, headers, body } = await server.app.inject('/asyncapi.json')
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
  expect(JSON.parse(body)).toEqual(JSON.parse(readFileSync('docs/asyncapi.json', 'utf8')))
})
